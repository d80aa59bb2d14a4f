"""Records what MemPalace answers to searches, for the tests of palace/search.

    python testdata/make/search_answers.py > palace/search/testdata/mempalace.json

The palace is made up here and lies in memory: mempalace.searcher is given
collections that compare exactly, and everything after the retrieval is its own.
"""

import json
import math
import random
import sys

import mempalace
import mempalace.searcher as searcher
from mempalace.backends import _inproc_sqlite  # noqa: F401  (fails early on another layout)

rng = random.Random(20261130)
DIM = 12
WORDS = (
    "castle harbor ledger copper river thread vector commit branch letter clock stone paper "
    "mutex index drawer query release room night Straße ΣΊΣΥΦΟΣ naïve 日本語 v2 x_y"
).split()


def vector():
    v = [rng.gauss(0, 1) for _ in range(DIM)]
    n = math.sqrt(sum(x * x for x in v))
    return [x / n for x in v]


def near(v, noise):
    w = [x + rng.gauss(0, noise) for x in v]
    n = math.sqrt(sum(x * x for x in w))
    return [x / n for x in w]


def text(n):
    return " ".join(rng.choice(WORDS) for _ in range(n)) + "."


class Collection:
    distance_metric = "cosine"

    def __init__(self, rows):
        self.rows = rows

    def _match(self, row, where):
        if not where:
            return True
        clauses = where["$and"] if "$and" in where else [where]
        return all(row["metadata"].get(k) == v for c in clauses for k, v in c.items())

    def query(self, query_texts, n_results, include, where=None):
        q = QUERIES[query_texts[0]]
        found = []
        for at, row in enumerate(self.rows):
            if self._match(row, where):
                dot = sum(a * b for a, b in zip(q, row["vector"]))
                found.append((1 - dot, at, row))
        found.sort(key=lambda f: f[:2])
        found = found[:n_results]
        return {
            "ids": [[r["id"] for _, _, r in found]],
            "documents": [[r["document"] for _, _, r in found]],
            "metadatas": [[r["metadata"] for _, _, r in found]],
            "distances": [[d for d, _, _ in found]],
        }

    def get(self, where=None, include=None, **_):
        rows = [r for r in self.rows if self._match(r, where)]

        class Got:
            documents = [r["document"] for r in rows]
            metadatas = [r["metadata"] for r in rows]

        return Got


drawers, closets = [], []
copied = text(40)
for source in range(14):
    center = vector()
    pieces = rng.randint(1, 5)
    for chunk in range(pieces):
        meta = {
            "source_file": f"/home/u/notes/file_{source:02}.md",
            "chunk_index": chunk,
            "wing": rng.choice(["alpha", "beta"]),
            "room": rng.choice(["general", "planning"]),
            "filed_at": f"2026-0{rng.randint(1, 9)}-11T10:00:00",
        }
        if rng.random() < 0.3:
            meta["authored_at"] = f"2025-0{rng.randint(1, 9)}-01T00:00:00"
        doc = text(rng.randint(4, 40))
        if source % 5 == 0 and chunk == 0:
            doc = copied  # the same passage in three files
        drawers.append({"id": f"drawer_{source:02}_{chunk}", "document": doc, "metadata": meta, "vector": near(center, 0.15)})
    if source % 2 == 0:
        closets.append(
            {
                "id": f"closet_{source:02}",
                "document": f"topic|{source}|→drawer_{source:02}_0",
                "metadata": {"source_file": f"/home/u/notes/file_{source:02}.md", "wing": "alpha", "room": "general"},
                "vector": near(center, 0.2),
            }
        )
rng.shuffle(drawers)
# Two drawers that score alike, but for the time they were written.
twin = vector()
for n, when in enumerate(["2024-01-01", "2026-01-01", "2025-01-01"]):
    drawers.append(
        {"id": f"twin_{n}", "document": "harbor ledger", "metadata": {"authored_at": when, "wing": "beta"}, "vector": twin}
    )
drawers.append({"id": "no_text", "document": None, "metadata": {"wing": "alpha"}, "vector": vector()})

QUERIES = {}
cases = []
for words in [
    "harbor ledger", "copper river thread", "straße σίσυφος", "naïve 日本語 x_y", "v2 vectors", "nothing of the kind",
    "a I ?", "castle castle clock", "twin harbor",
]:
    QUERIES[words] = near(rng.choice(drawers)["vector"], 0.3)
QUERIES["twin harbor"] = near(twin, 0.01)

searcher.get_collection = lambda *a, **k: Collection(drawers)
for words in QUERIES:
    for with_closets in (True, False):
        held = Collection(closets if with_closets else [])
        searcher.get_closets_collection = lambda *a, _held=held, **k: _held
        for n in (3, 8):
            for scope in ({}, {"wing": "beta"}, {"wing": "alpha", "room": "general"}):
                got = searcher.search_memories(words, "/nowhere", n_results=n, **scope)
                assert "error" not in got, got
                cases.append(
                    {
                        "query": words, "n": n, "closets": with_closets, **scope,
                        "results": [
                            {
                                "id": h["drawer_id"], "distance": h["distance"], "similarity": h["similarity"],
                                "bm25": h["bm25_score"], "text": h["text"],
                                "also_in": [c["drawer_id"] for c in h.get("also_in", [])],
                            }
                            for h in got["results"]
                        ],
                    }
                )

texts = [d["document"] or "" for d in drawers]
bm25 = {q: searcher._bm25_scores(q, texts) for q in QUERIES}
json.dump(
    {
        "mempalace": mempalace.__version__, "drawers": drawers, "closets": closets,
        "queries": QUERIES, "cases": cases, "bm25": bm25,
    },
    sys.stdout, ensure_ascii=False, indent=None, separators=(",", ":"),
)
