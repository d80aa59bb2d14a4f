#!/usr/bin/env python3
"""Building and searching an index against the C++ hnswlib: the same vectors, the same run.

    HNSWLIB=/path/to/hnswlib-0.8.0 testdata/bench/index.py [vectors] [dimension] [queries] [runs]

HNSWLIB is a directory with hnswlib's headers (hnswlib/hnswlib.h): the unpacked source of the PyPI package hnswlib, or
/usr/include. Needs go and a C++ compiler ($CXX, g++ or clang++); without one it says so and leaves the peer out.
Both sides take turns; of each figure the best of the runs counts. M 16, ef_construction 100, cosine of unit vectors.
"""
import json, os, shutil, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
n, dim, asked, runs = (list(map(int, sys.argv[1:])) + [50000, 384, 500, 3][len(sys.argv) - 1:])[:4]
efs = ("10", "50", "200")


def compiled(to):
    """The peer's program, or None with the reason said."""
    headers = os.environ.get("HNSWLIB", "/usr/include")
    if not os.path.exists(os.path.join(headers, "hnswlib", "hnswlib.h")):
        print(f"peer skipped: no hnswlib/hnswlib.h in {headers} (set HNSWLIB)")
        return None
    cxx = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if not cxx:
        print("peer skipped: no C++ compiler (set CXX)")
        return None
    subprocess.run([cxx, "-O3", "-march=native", "-std=c++17", "-pthread", "-w", "-I", headers, os.path.join(here, "index.cpp"), "-o", to], check=True)
    return to


def best(results):
    """The best of several runs, figure by figure."""
    return {
        "build": min(r["build"] for r in results),
        "cpu": min(r["build_cpu"] for r in results),
        "search": {e: min(r["search"][e] for r in results) for e in efs},
        "recall": {e: sum(r["recall"][e] for r in results) / len(results) for e in efs},
    }


with tempfile.TemporaryDirectory() as tmp:
    ours = os.path.join(tmp, "index")
    subprocess.run(["go", "build", "-o", ours, "./testdata/bench/index"], cwd=os.path.join(here, "..", ".."), check=True)
    peer = compiled(os.path.join(tmp, "peer"))
    data = os.path.join(tmp, "vectors")
    subprocess.run([ours, "make", str(n), str(dim), str(asked), data], check=True)
    sides = {"ours": [ours, "run", data]} | ({"C++": [peer, data]} if peer else {})
    got = {}
    for threads in (1, 2):
        lists = {s: [] for s in sides}
        for _ in range(runs):
            for side, command in sides.items():
                lists[side].append(json.loads(subprocess.run(command + [str(threads)], check=True, stdout=subprocess.PIPE).stdout))
        got |= {(s, threads): best(r) for s, r in lists.items()}

print(f"{n} vectors of {dim}, {asked} queries, best of {runs}")
for (side, threads), r in got.items():
    figures = "  ".join(f"ef {e}: {r['search'][e]:.3f} ms, recall {r['recall'][e]:.4f}" for e in efs)
    print(f"{side:5} {threads} thread{'s' if threads > 1 else ' '}: build {r['build']:.2f} s ({r['cpu']:.2f} s of processor)  {figures}")
for side in sides:
    print(f"{side}: two threads build {got[side, 1]['build'] / got[side, 2]['build']:.2f} times as fast as one")
if peer:
    for threads in (1, 2):
        a, b = got["ours", threads], got["C++", threads]
        figures = ", ".join(f"search at ef {e} {a['search'][e] / b['search'][e]:.2f}, recall {a['recall'][e] - b['recall'][e]:+.4f}" for e in efs)
        print(f"ours over C++, {threads} thread(s): build {a['build'] / b['build']:.2f} (processor {a['cpu'] / b['cpu']:.2f}), {figures}")
