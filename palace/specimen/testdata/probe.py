"""What chromadb does with a palace. Prints one JSON object a line and flushes,
so that a crash leaves what came before it.

    probe.py sqlite|read|write PALACE KNOWN.json

KNOWN.json: {"vectors": [[id, [numbers]], ...], "words": [[id, text], ...],
"gone": [id, ...]}, true of the drawers before anything happened to the palace,
and which of them SQLite no longer has."""

import json
import os
import sys

DRAWERS = "mempalace_drawers"


def tell(step, **facts):
    print(json.dumps({"step": step, **facts}), flush=True)


def attempt(step, call):
    """Runs call and tells its value, or its error; None after an error."""
    print(json.dumps({"trying": step}), flush=True)
    try:
        value = call()
    except BaseException as e:  # a Rust panic is no Exception
        tell(step, ok=False, error=f"{type(e).__name__}: {e}"[:300])
        return None
    tell(step, ok=True, value=value)
    return value


def search(collection, known, gone):
    """How many of the known vectors find their own id first; ghosts are found
    and gone."""
    found, errors, wrong, ghosts = 0, 0, 0, 0
    for start in range(0, len(known), 50):
        if errors >= 100 and not found:  # it will not get better
            errors = len(known) - wrong
            break
        part = known[start:start + 50]
        try:
            answers = collection.query(query_embeddings=[v for _, v in part], n_results=1, include=[])["ids"]
        except Exception:
            answers = []
            for _, v in part:
                try:
                    answers += collection.query(query_embeddings=[v], n_results=1, include=[])["ids"]
                except Exception:
                    answers.append(None)
        for (id, _), answer in zip(part, answers):
            if answer is None:
                errors += 1
            elif answer and answer[0] == id:
                found += id not in gone
                ghosts += id in gone
            else:
                wrong += 1
    return {"known": len(known), "found": found, "errors": errors, "wrong": wrong, "ghosts": ghosts}


def read(client, known):
    for name in attempt("list", lambda: sorted(c.name for c in client.list_collections())) or []:
        collection = client.get_collection(name)
        attempt("count " + name, collection.count)
        attempt("get " + name, lambda: len(collection.get(include=["documents", "metadatas"])["ids"]))
        attempt("embeddings " + name, lambda: len(collection.get(include=["embeddings"])["embeddings"]))
    if not known["vectors"]:
        return
    collection = attempt_collection(client)
    if collection is None:
        return
    one = known["vectors"][0][1]
    attempt("first query", lambda: len(collection.query(query_embeddings=[one], n_results=10)["ids"][0]))
    attempt("distance", lambda: collection.query(query_embeddings=[known["vectors"][1][1]], n_results=2)["distances"][0][1])
    attempt("filtered query", lambda: len(collection.query(
        query_embeddings=[one], n_results=10, where={"chunk_index": {"$gte": 0}})["ids"][0]))
    attempt("search", lambda: search(collection, known["vectors"], set(known["gone"])))
    attempt("words", lambda: sum(
        id in collection.get(where_document={"$contains": text}, include=[])["ids"]
        for id, text in known["words"] if id not in known["gone"]))


def attempt_collection(client):
    try:
        return client.get_collection(DRAWERS)
    except BaseException as e:
        tell("open " + DRAWERS, ok=False, error=f"{type(e).__name__}: {e}"[:300])


def write(client, known):
    collection = attempt_collection(client)
    if collection is None:
        return
    dimension = len(known["vectors"][0][1]) if known["vectors"] else 384
    vector = [((i * 7919) % 101 - 50) / 100 for i in range(dimension)]
    attempt("upsert", lambda: collection.upsert(
        ids=["probe"], embeddings=[vector], documents=["a drawer filed by the probe"], metadatas=[{"wing": "probe"}]))
    attempt("count after", collection.count)
    attempt("get new", lambda: collection.get(ids=["probe"])["ids"])
    attempt("find new", lambda: collection.query(query_embeddings=[vector], n_results=1)["ids"][0])


def sqlite(path):
    """What the C library says of the database."""
    import sqlite3
    db = sqlite3.connect(path + "/chroma.sqlite3")
    attempt("integrity", lambda: db.execute("PRAGMA integrity_check").fetchone()[0])
    attempt("text index", lambda: db.execute(
        "INSERT INTO embedding_fulltext_search(embedding_fulltext_search) VALUES('integrity-check')").fetchall())
    db.close()


def main():
    mode, path, known = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
    if mode == "sqlite":
        sqlite(path)
        tell("end", ok=True)
        return
    import chromadb
    if "PROBE_UID" in os.environ:
        # Whoever root lends its rights to may not be able to read chromadb:
        # load all of it first.
        chromadb.PersistentClient(os.environ["HOME"] + "/warm").list_collections()
        os.setgid(int(os.environ["PROBE_UID"]))
        os.setuid(int(os.environ["PROBE_UID"]))
    client = attempt_client(chromadb, path)
    if client is not None:
        {"read": read, "write": write}[mode](client, known)
    tell("end", ok=True)


def attempt_client(chromadb, path):
    print(json.dumps({"trying": "open"}), flush=True)
    try:
        return chromadb.PersistentClient(path)
    except BaseException as e:
        tell("open", ok=False, error=f"{type(e).__name__}: {e}"[:300])


main()
