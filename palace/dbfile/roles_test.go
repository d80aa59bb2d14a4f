package dbfile

import (
	"bufio"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"time"
)

var roles = map[string]func(*sql.DB) (answer func(string) string, err error){
	"exclusive": playExclusive,
	"hot":       playHot,
	"wal":       playWAL,
	"mover":     playMover,
	"cycler":    playCycler,
}

// play is the other process. It says ready, then answers one line for every line it is asked, until its input ends.
func play(role, path string) int {
	db, err := sql.Open("sqlite", dsn(path, "mode=rw", "_pragma=busy_timeout(5000)"))
	if err != nil {
		return complain(err)
	}
	db.SetMaxOpenConns(1)
	answer, err := roles[role](db)
	if err != nil {
		return complain(err)
	}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println(answer(in.Text()))
	}
	if err := db.Close(); err != nil {
		return complain(err)
	}
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "peer:", err)
	return 1
}

// playExclusive tries to take the lock that a commit needs.
func playExclusive(db *sql.DB) (func(string) string, error) {
	return func(string) string {
		if _, err := db.Exec("PRAGMA busy_timeout = 0"); err != nil {
			return err.Error()
		}
		if _, err := db.Exec("BEGIN EXCLUSIVE"); err != nil {
			if strings.Contains(err.Error(), "locked") {
				return "busy"
			}
			return err.Error()
		}
		if _, err := db.Exec("ROLLBACK"); err != nil {
			return err.Error()
		}
		return "ok"
	}, nil
}

// playHot changes more than its cache holds, so that half of it reaches the database, and does not commit.
func playHot(db *sql.DB) (func(string) string, error) {
	for _, s := range []string{
		"PRAGMA cache_size = 5", "BEGIN",
		"UPDATE drawer SET body = NULL", "DELETE FROM drawer WHERE id % 2 = 0",
	} {
		if _, err := db.Exec(s); err != nil {
			return nil, err
		}
	}
	return func(string) string { return "idle" }, nil
}

// playWAL has a WAL database open. Told to add, it commits a row; told to close, it closes; told to checkpoint, it does.
func playWAL(db *sql.DB) (func(string) string, error) {
	for _, s := range []string{"PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0"} {
		if _, err := db.Exec(s); err != nil {
			return nil, err
		}
	}
	return func(word string) string {
		var err error
		switch word {
		case "add":
			_, err = db.Exec("INSERT INTO drawer(body) VALUES ('from the peer')")
		case "close":
			err = db.Close()
		case "checkpoint":
			_, err = db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
		case "delete-mode":
			_, err = db.Exec("PRAGMA journal_mode = DELETE")
		}
		if err != nil {
			return err.Error()
		}
		return "done"
	}, nil
}

// playMover moves one from an account to another, over and over, with a breath in between: the sum of all accounts
// stays the same in every committed state.
func playMover(db *sql.DB) (func(string) string, error) {
	move := func(i int) error {
		_, err := db.Exec(fmt.Sprintf("BEGIN IMMEDIATE; UPDATE account SET n = n - 1 WHERE id = %d; "+
			"UPDATE account SET n = n + 1 WHERE id = %d; COMMIT", 1+i%2000, 2000-(i*7)%2000))
		return err
	}
	if err := move(0); err != nil { // so that a log is there before anybody looks
		return nil, err
	}
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				stopped <- nil
				return
			case <-time.After(time.Millisecond):
			}
			if err := move(i); err != nil {
				stopped <- err
				return
			}
		}
	}()
	return func(string) string {
		close(stop)
		if err := <-stopped; err != nil {
			return err.Error()
		}
		return "done"
	}, nil
}

// playCycler opens the database, commits in WAL mode and closes it, again and again, so that the sidecars come and go.
func playCycler(db *sql.DB) (func(string) string, error) {
	db.SetMaxIdleConns(0) // the connection closes after each use
	return func(string) string {
		for range 5 {
			if _, err := db.Exec("INSERT INTO drawer(body) VALUES ('again')"); err != nil {
				return err.Error()
			}
		}
		return "done"
	}, nil
}
