"""What a real chromadb makes of an index that was put into its palace.

    interop.py create PALACE SPACE N    a palace of N vectors, flushed from 400 on
    interop.py show PALACE DIR          ids, vectors, queries and its answers, into DIR
    interop.py adopt PALACE             mark the index as holding every vector, empty the queue but for its top
    interop.py use PALACE DIR FROM TO   check, then add vectors FROM..TO of DIR/more.f32, and check again

Prints one JSON document. Files of DIR: ids.json, vectors.f32 (in the order of the ids), queries.f32, more.f32.
"""
import json
import os
import sqlite3
import sys

import numpy as np

COLLECTION, DIM, ASKED = "mempalace_drawers", 384, 60


def client(palace):
    import chromadb

    return chromadb.PersistentClient(palace).get_collection(COLLECTION, embedding_function=None)


def answers(c, queries, n=10):
    got = c.query(query_embeddings=queries, n_results=n, include=["distances"])
    return {"ids": got["ids"], "distances": got["distances"]}


def create(palace, space, n):
    import chromadb

    metadata = {"hnsw:space": space, "hnsw:sync_threshold": 400}
    c = chromadb.PersistentClient(palace).create_collection(COLLECTION, metadata=metadata, embedding_function=None)
    rng = np.random.default_rng(9)
    middle = rng.normal(0, 1, (20, DIM))
    vectors = middle[rng.integers(0, 20, n)] + rng.normal(0, 0.3, (n, DIM))
    c.add(ids=[f"drawer_{i}" for i in range(n)], embeddings=vectors.astype(np.float32), documents=["a text"] * n)
    return {}


def show(palace, out):
    c = client(palace)
    got = c.get(include=["embeddings"])
    vectors = np.asarray(got["embeddings"], dtype=np.float32)
    rng = np.random.default_rng(5)
    queries = vectors[rng.integers(0, len(vectors), ASKED)] + rng.normal(0, 0.01, (ASKED, DIM)).astype(np.float32)
    more = vectors[rng.integers(0, len(vectors), 1000)] + rng.normal(0, 0.02, (1000, DIM)).astype(np.float32)
    json.dump(got["ids"], open(os.path.join(out, "ids.json"), "w"))
    vectors.tofile(os.path.join(out, "vectors.f32"))
    queries.astype(np.float32).tofile(os.path.join(out, "queries.f32"))
    more.astype(np.float32).tofile(os.path.join(out, "more.f32"))
    db = sqlite3.connect(os.path.join(palace, "chroma.sqlite3"))
    segment = db.execute("SELECT id FROM segments WHERE scope = 'VECTOR'").fetchone()[0]
    return {"segment": segment, "count": c.count()}


def adopt(palace):
    db = sqlite3.connect(os.path.join(palace, "chroma.sqlite3"))
    with db:
        top = db.execute("SELECT max(seq_id) FROM embeddings_queue").fetchone()[0]
        db.execute("INSERT OR REPLACE INTO max_seq_id SELECT id, ? FROM segments WHERE scope = 'VECTOR'", (top,))
        db.execute("DELETE FROM embeddings_queue WHERE seq_id < ?", (top,))
    return {"top": top}


def use(palace, out, start, end):
    c = client(palace)
    read = lambda name: np.fromfile(os.path.join(out, name), dtype=np.float32).reshape(-1, DIM)
    ids, vectors, queries, more = json.load(open(os.path.join(out, "ids.json"))), read("vectors.f32"), read("queries.f32"), read("more.f32")
    ids = ids + [f"more_{i}" for i in range(start)]
    vectors = np.concatenate([vectors, more[:start]])
    got = c.get(ids=ids, include=["embeddings"])
    at = {id: i for i, id in enumerate(ids)}
    wrong = max(float(np.abs(v - vectors[at[id]]).max()) for id, v in zip(got["ids"], got["embeddings"]))
    before = answers(c, queries)
    allowed = ids[20:50]
    filtered = c.query(query_embeddings=queries, n_results=5, ids=allowed, include=[])["ids"]
    for i in range(start, end, 100):
        c.add(ids=[f"more_{j}" for j in range(i, min(end, i + 100))], embeddings=more[i : min(end, i + 100)], documents=["more"] * (min(end, i + 100) - i))
    found = answers(c, more[:end], 1)["ids"]
    return {
        "count": c.count(), "got": len(got["ids"]), "wrong": wrong, "before": before, "after": answers(c, queries),
        "allowed": allowed, "filtered": filtered,
        "found": sum(row == [f"more_{i}"] for i, row in enumerate(found)),
    }


what, args = sys.argv[1], sys.argv[2:]
if what == "create":
    said = create(args[0], args[1], int(args[2]))
elif what == "show":
    said = show(*args)
elif what == "adopt":
    said = adopt(*args)
else:
    said = use(args[0], args[1], int(args[2]), int(args[3]))
json.dump(said, sys.stdout)
