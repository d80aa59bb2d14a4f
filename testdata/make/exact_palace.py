"""Makes testdata/palaces/exact with MemPalace's own sqlite_exact backend and records its answers.

    HOME=$(mktemp -d) python exact_palace.py ../palaces/exact

Needs mempalace 3.11.0. MemPalace locks palaces under $HOME, hence the scratch home. The answers in expected.json are
what the backend said, not what this script thinks it should say.
"""

import hashlib
import json
import os
import shutil
import struct
import sys
from importlib.metadata import version

from mempalace.backends.base import EmbedderIdentity
from mempalace.backends.sqlite_exact import SQLiteExactBackend

DIM = 16
WINGS = ["myproject", "home", "日本", "wing with space", ""]
ROOMS = ["technical", "decisions", "general", "diary"]


def vector(seed):
    raw = b"".join(hashlib.sha256(f"{seed}:{i}".encode()).digest() for i in range(2))
    v = [(b - 127.5) / 128 for b in raw[:DIM]]
    norm = sum(x * x for x in v) ** 0.5
    return [struct.unpack("<f", struct.pack("<f", x / norm))[0] for x in v]


def drawer(n):
    meta = {
        "wing": WINGS[n % 3], "room": ROOMS[n % 4], "hall": "technical", "source_file": f"/src/file{n // 5}.md",
        "chunk_index": n % 5, "filed_at": f"2026-01-{n % 28 + 1:02d}T08:00:00.{n:06d}", "source_mtime": 1767225600.25 + n,
        "normalize_version": 2, "line_start": n * 10 + 1,
    }
    text = f"Drawer {n}: the {ROOMS[n % 4]} notes say that Straße number {n} is 100% done_ish."
    return f"drawer_{WINGS[n % 3]}_{ROOMS[n % 4]}_{n:024x}", text, meta


ODD = {
    "no_metadata": {},
    "no_wing": {"room": "general"},
    "null_wing": {"wing": None, "room": "general"},
    "empty_wing": {"wing": "", "room": ""},
    "int_wing": {"wing": 7, "room": "general"},
    "text_seven": {"wing": "7", "room": "general"},
    "float_wing": {"wing": 7.0, "room": "general"},
    "bool_wing": {"wing": True, "room": "general"},
    "flags": {"wing": "home", "on": True, "off": False, "zero": 0, "one": 1, "half": 0.5, "blank": ""},
    "big": {"wing": "home", "n": 9007199254740993, "top": 9223372036854775807, "low": -9223372036854775808},
    "bigger": {"wing": "home", "n": 18446744073709551616, "f": 1e16, "tiny": 1e-07, "plain": 1234567.0},
    "lists": {"wing": "home", "tags": ["a", "b'c", 'd"e'], "nums": [1, 2], "mixed": [1, "x", None], "none": []},
    "nested": {"wing": "home", "dict": {"a": {"b": [1]}}},
    "controls": {"wing": "tab\there", "quote": "it's \"so\" \\ back", "line": "a\nb", "astral": "🎉"},
    "key with space": {"wing": "home", "a key": "v", "dotted.key": "w", "$dollar": "x", "q\"uote": "y"},
}

WHERE = [
    {"wing": "home"},
    {"wing": ""},
    {"wing": {"$eq": "home"}},
    {"wing": {"$ne": "home"}},
    {"wing": {"$in": ["home", "日本"]}},
    {"wing": {"$nin": ["home", "日本"]}},
    {"wing": {"$ne": "nowhere"}},
    {"missing": {"$ne": 1}},
    {"missing": {"$nin": [1, 2]}},
    {"missing": {"$gt": 1}},
    {"missing": {"$contains": ""}},
    {"missing": {"$contains": "x"}},
    {"chunk_index": {"$gt": 2}},
    {"chunk_index": {"$gte": 2.5}},
    {"chunk_index": {"$lt": 1}},
    {"chunk_index": {"$lte": 0}},
    {"source_mtime": {"$gt": 1767225620}},
    {"source_mtime": 1767225600.25},
    {"on": {"$eq": True}},
    {"on": {"$eq": 1}},
    {"on": {"$gt": 0}},
    {"one": {"$eq": True}},
    {"off": {"$eq": 0}},
    {"off": {"$ne": False}},
    {"on": {"$contains": "True"}},
    {"on": {"$contains": True}},
    {"one": {"$contains": True}},
    {"off": {"$contains": "0"}},
    {"zero": {"$contains": "0"}},
    {"half": {"$contains": "0.5"}},
    {"half": {"$in": [0.5, 3.5]}},
    {"f": {"$contains": "1e+16"}},
    {"tiny": {"$contains": "1e-07"}},
    {"plain": {"$contains": "1234567.0"}},
    {"n": {"$eq": 9007199254740993}},
    {"n": {"$eq": 9007199254740992.0}},
    {"n": {"$gt": 9007199254740992}},
    {"n": {"$gt": 9007199254740992.0}},
    {"n": {"$contains": "18446744073709551616"}},
    {"top": {"$gte": 9223372036854775807}},
    {"low": {"$lte": -9223372036854775808}},
    {"tags": {"$contains": "a"}},
    {"tags": {"$contains": "['a', \"b'c\", 'd\"e']"}},
    {"nums": {"$contains": 1}},
    {"nums": {"$contains": "[1, 2]"}},
    {"mixed": {"$contains": "None"}},
    {"none": {"$contains": "["}},
    {"tags": {"$eq": "a"}},
    {"wing": {"$gt": "home"}},
    {"wing": {"$gte": "日"}},
    {"wing": {"$lt": 5}},
    {"source_file": {"$contains": "file1"}},
    {"astral": {"$contains": "🎉"}},
    {"line": {"$contains": "a\nb"}},
    {"a key": {"$eq": "v"}},
    {"dotted.key": {"$eq": "w"}},
    {"$and": [{"wing": "home"}, {"room": "technical"}]},
    {"$and": [{"wing": "home"}, {"chunk_index": {"$gte": 3}}]},
    {"$or": [{"wing": "7"}, {"wing": "日本"}]},
    {"$or": [{"wing": 7}, {"room": "diary"}]},
    {"$or": [{"$and": [{"wing": "home"}, {"room": "technical"}]}, {"chunk_index": 4}]},
]

WHERE_DOCUMENT = [
    {"$contains": "Straße"},
    {"$contains": "straße"},
    {"$contains": "100% done_ish"},
    {"$contains": ""},
    {"$and": [{"$contains": "Drawer 1"}, {"$contains": "diary"}]},
    {"$or": [{"$contains": "number 3 "}, {"$contains": "odd"}]},
]

BOTH = [
    ({"wing": "home"}, {"$contains": "diary"}),
    ({"chunk_index": {"$gt": 1}}, {"$contains": "Drawer 2"}),
]


def answers(coll):
    out = {"count": coll.count()}
    full = coll.get(include=["documents", "metadatas", "embeddings"])
    out["ids"] = full.ids
    out["documents"] = full.documents
    out["metadatas"] = full.metadatas
    out["sha256_vectors"] = hashlib.sha256(
        b"".join(struct.pack(f"<{len(e)}f", *e) for e in full.embeddings)
    ).hexdigest()
    out["where"] = [{"where": w, "ids": coll.get(where=w).ids} for w in WHERE]
    out["where_document"] = [{"where_document": w, "ids": coll.get(where_document=w).ids} for w in WHERE_DOCUMENT]
    out["both"] = [{"where": w, "where_document": d, "ids": coll.get(where=w, where_document=d).ids} for w, d in BOTH]
    out["facets"] = {f: coll.facet_counts(f) for f in ("wing", "room", "source_file", "chunk_index")}
    return out


def main(target):
    palace = os.path.join(target, "palace")
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    backend = SQLiteExactBackend()
    drawers = backend.get_collection(palace, "mempalace_drawers", create=True)
    drawers.set_embedder_identity(EmbedderIdentity(model_name="minilm", dimension=DIM))
    rows = [drawer(n) for n in range(60)]
    drawers.add(ids=[r[0] for r in rows], documents=[r[1] for r in rows], metadatas=[r[2] for r in rows],
                embeddings=[vector(r[0]) for r in rows])
    drawers.add(ids=list(ODD), documents=["odd " + k if k != "no_metadata" else "" for k in ODD],
                metadatas=list(ODD.values()), embeddings=[vector(k) for k in ODD])
    drawers.delete(ids=[rows[n][0] for n in range(0, 60, 13)])
    drawers.update(ids=[rows[7][0]], metadatas=[{"wing": "moved"}])
    drawers.upsert(ids=[rows[8][0]], documents=["Drawer 8, written again"], metadatas=[rows[8][2]],
                   embeddings=[vector("again")])
    closets = backend.get_collection(palace, "mempalace_closets", create=True)
    closets.add(ids=["closet_home_technical_01"], documents=["topic|entities|→a,b"],
                metadatas=[{"wing": "home", "room": "technical", "drawer_count": 2}], embeddings=[vector("closet")])
    backend.get_collection(palace, "unused", create=True)
    expected = {
        "made_by": f"mempalace {version('mempalace')}, sqlite_exact",
        "dimension": DIM,
        "embedders": {"mempalace_drawers": "minilm"},
        "collections": {
            name: answers(backend.get_collection(palace, name))
            for name in ("mempalace_drawers", "mempalace_closets", "unused")
        },
    }
    drawers.run_maintenance("compact")
    backend.close()
    with open(os.path.join(target, "expected.json"), "w", encoding="utf-8") as f:
        json.dump(expected, f, ensure_ascii=False, indent=1, sort_keys=True)
        f.write("\n")


main(sys.argv[1])
