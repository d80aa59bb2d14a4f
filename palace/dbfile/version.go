package dbfile

import sqlite3 "modernc.org/sqlite/lib"

// SQLiteVersion is the SQLite that does the reading. What a check reports
// depends on it: only 3.44 and later look into a full-text index.
const SQLiteVersion = sqlite3.SQLITE_VERSION
