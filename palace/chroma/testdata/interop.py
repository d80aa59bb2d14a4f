"""Plays a list of steps against a real chromadb and prints what it answered.

Reads one JSON document on standard input: {"dir": ..., "steps": [...]}.
"""
import json
import os
import sqlite3
import sys
import time


def check(path):
    """What SQLite of this Python says of the database; empty when all is well."""
    db = sqlite3.connect(path)
    said = [r[0] for r in db.execute("PRAGMA integrity_check")]
    db.execute("INSERT INTO embedding_fulltext_search(embedding_fulltext_search) VALUES('integrity-check')")
    db.rollback()
    db.close()
    return [s for s in said if s != "ok"]


def pause(path):
    """Says that this process got here, and waits to be told to go on."""
    open(path + ".here", "w").close()
    while not os.path.exists(path):
        time.sleep(0.02)


def answer(client, step):
    op, name = step["op"], step.get("collection", "drawers")
    if op == "create":
        client.create_collection(name, metadata=step.get("metadata"), embedding_function=None)
        return None
    if op == "drop":
        client.delete_collection(name)
        return None
    collection = client.get_collection(name, embedding_function=None)
    args = step.get("args", {})
    if op == "query":
        got = collection.query(**args)
        return {"ids": got["ids"][0]}
    if op == "count":
        return collection.count()
    if op == "get":
        got = collection.get(**args)
        if got["embeddings"] is not None:
            got["embeddings"] = [[float(x) for x in v] for v in got["embeddings"]]
        return {k: got[k] for k in ("ids", "documents", "metadatas", "uris", "embeddings")}
    getattr(collection, op)(**args)
    return None


def mempalace(path, step):
    """Makes a collection, or files drawers, by way of MemPalace's own backend."""
    from mempalace.backends.chroma import ChromaBackend

    backend = ChromaBackend()
    if "upsert" not in step.get("args", {}):
        backend.create_collection(path, step["collection"])
        backend.close()
        return None
    collection = backend.get_collection(path, step["collection"], create=False)
    collection.upsert(**step["args"]["upsert"])
    got = collection.get(ids=step["args"]["upsert"]["ids"])
    count, space = collection.count(), collection.distance_metric
    backend.close()
    return {"count": count, "space": space, "documents": got["documents"]}


def main():
    plan = json.load(sys.stdin)
    client = None
    answers = []
    for step in plan["steps"]:
        try:
            if step["op"] == "check":  # in a process without a client: closing would drop its locks
                answers.append({"answer": check(os.path.join(plan["dir"], "chroma.sqlite3"))})
                continue
            if step["op"] == "pause":
                answers.append({"answer": pause(step["args"]["path"])})
                continue
            if step["op"] == "mempalace":
                answers.append({"answer": mempalace(plan["dir"], step)})
                continue
            if client is None:
                import chromadb  # takes seconds, and not every plan needs it

                client = chromadb.PersistentClient(plan["dir"])
            answers.append({"answer": answer(client, step)})
        except Exception as e:  # the caller judges whether that was right
            answers.append({"error": f"{type(e).__name__}: {e}"})
    json.dump(answers, sys.stdout)


main()
