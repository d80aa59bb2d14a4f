#!/usr/bin/env python3
"""castellan status against C SQLite on the same questions, in the same run.

    go run ./testdata/genpalace -rows 200000 -queued 700 /tmp/big
    go build -o /tmp/castellan . && testdata/bench/status.py /tmp/castellan /tmp/big [runs]

The peer asks, through Python's sqlite3 (which is C SQLite), what status asks of the database: counts, every id, wings, the
queue, sequence numbers. It does not read the index files, compare sets or look at locks, which status does besides.
"""
import os, sqlite3, statistics, subprocess, sys, tempfile, time

if len(sys.argv) < 3:
    sys.exit(__doc__)
binary, palace = sys.argv[1], sys.argv[2]
runs = int(sys.argv[3]) if len(sys.argv) > 3 else 7


def ask(path):
    c = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    segments = [r[0] for r in c.execute("SELECT id FROM segments WHERE scope = 'METADATA'")]
    c.execute("SELECT dir, max(version) FROM migrations GROUP BY dir").fetchall()
    c.execute("SELECT sum(typeof(seq_id) = 'blob'), max(seq_id) FROM embeddings NOT INDEXED").fetchall()
    c.execute("SELECT seq_id, topic, operation, id, typeof(vector), length(vector), encoding, strftime('%s', created_at) FROM embeddings_queue").fetchall()
    rows = 0
    for s in segments:
        rows += len(c.execute("SELECT embedding_id FROM embeddings WHERE segment_id = ?", (s,)).fetchall())
        c.execute("""SELECT m.string_value, m.int_value, m.float_value, m.bool_value, count(*) FROM embeddings e
            LEFT JOIN embedding_metadata m ON m.id = e.id AND m.key = 'wing' WHERE e.segment_id = ? GROUP BY 1, 2, 3, 4""", (s,)).fetchall()
    c.close()
    return rows


home = tempfile.mkdtemp()
env = {**{k: v for k, v in os.environ.items() if not k.startswith("MEMPAL")}, "HOME": home}
ours, theirs = [], []
for i in range(runs + 1):
    t = time.perf_counter()
    rows = ask(os.path.join(palace, "chroma.sqlite3"))
    u = time.perf_counter()
    p = subprocess.run([binary, "status", palace, "--json"], env=env, stdout=subprocess.PIPE, check=True)
    v = time.perf_counter()
    if i:  # the first round warms the page cache
        theirs.append(u - t)
        ours.append(v - u)
m, n = statistics.median(ours), statistics.median(theirs)
print(f"SQLite {sqlite3.sqlite_version}, {rows:,} rows, {runs} runs, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
print(f"castellan status   {m:.3f} s   (min {min(ours):.3f}, max {max(ours):.3f})")
print(f"C SQLite           {n:.3f} s   (min {min(theirs):.3f}, max {max(theirs):.3f})")
print(f"ratio              {m / n:.2f}")
os.rmdir(home)
