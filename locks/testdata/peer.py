"""Take locks through MemPalace itself, for the tests beside it.

    peer.py hold palace|source NAME             until standard input ends
    peer.py try palace|source NAME              and tell what came of it
    peer.py count palace|source NAME FILE N     add one to FILE under the lock, N times
    peer.py keys                                lock files of the paths on standard input
"""

import json
import os
import sys
import time
from importlib.metadata import version

from mempalace.palace import MineAlreadyRunning, mine_lock, mine_palace_lock


def taking(kind, name):
    return mine_palace_lock(name) if kind == "palace" else mine_lock(name)


def hold(kind, name):
    with taking(kind, name):
        print("ready 0", flush=True)
        sys.stdin.read()


def attempt(kind, name):
    try:
        with taking(kind, name):
            print("taken", flush=True)
    except MineAlreadyRunning as refused:
        print("refused:", refused, flush=True)


def count(kind, name, file, times):
    print("ready 0", flush=True)
    done = 0
    while done < times:
        try:
            with taking(kind, name):
                with open(file) as f:
                    value = int(f.read())
                with open(file, "w") as f:
                    f.write(str(value + 1))
                done += 1
        except MineAlreadyRunning:
            time.sleep(0.001)


def keys():
    locks = os.path.join(os.path.expanduser("~"), ".mempalace", "locks")
    out = []
    for name in json.load(sys.stdin):
        try:
            with mine_palace_lock(os.fsdecode(bytes.fromhex(name))):
                made = os.listdir(locks)
        except UnicodeEncodeError:
            out.append("")
            continue
        for file in made:
            os.remove(os.path.join(locks, file))
        out.append(" ".join(made))
    json.dump([version("mempalace"), out], sys.stdout)


match sys.argv[1:]:
    case ["hold", kind, name]:
        hold(kind, name)
    case ["try", kind, name]:
        attempt(kind, name)
    case ["count", kind, name, file, times]:
        count(kind, name, file, int(times))
    case ["keys"]:
        keys()
    case _:
        sys.exit(__doc__)
