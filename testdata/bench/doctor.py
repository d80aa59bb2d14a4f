#!/usr/bin/env python3
"""castellan doctor on a large palace: wall clock, processor time, memory, and how soon ctrl+c ends it.

    go run ./testdata/genpalace -rows 200000 -queued 700 /tmp/big
    go build -o /tmp/castellan . && testdata/bench/doctor.py /tmp/castellan /tmp/big [runs]

Compare processor time where other programs run: the wall clock then says more about them.
"""
import os, resource, signal, subprocess, sys, tempfile, time

if len(sys.argv) < 3:
    sys.exit(__doc__)
binary, palace = sys.argv[1], sys.argv[2]
runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
home = tempfile.mkdtemp()
env = {**{k: v for k, v in os.environ.items() if not k.startswith("MEMPAL")}, "HOME": home, "XDG_STATE_HOME": home}
command = [binary, "doctor", palace, "--json"]


def used():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime, r.ru_maxrss


print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
for i in range(runs):
    before, t = used()[0], time.perf_counter()
    subprocess.run(command, env=env, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - t
    cpu, rss = used()
    print(f"run {i + 1}: wall {wall:.2f} s, processor {cpu - before:.2f} s, resident at most {rss / 1024:.0f} MB, load {os.getloadavg()[0]:.1f}")
for delay in (0.5, 1.5, 3):
    p = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(delay)
    t = time.perf_counter()
    p.send_signal(signal.SIGINT)
    p.wait()
    print(f"interrupted after {delay} s: gone within {1000 * (time.perf_counter() - t):.0f} ms, exit {p.returncode}")
