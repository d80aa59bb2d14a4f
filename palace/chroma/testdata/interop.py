"""Plays a list of steps against a real chromadb and prints what it answered.

Reads one JSON document on standard input: {"dir": ..., "steps": [...]}.
"""
import json
import sys

import chromadb


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
    if op == "count":
        return collection.count()
    if op == "get":
        got = collection.get(**args)
        if got["embeddings"] is not None:
            got["embeddings"] = [[float(x) for x in v] for v in got["embeddings"]]
        return {k: got[k] for k in ("ids", "documents", "metadatas", "uris", "embeddings")}
    getattr(collection, op)(**args)
    return None


def main():
    plan = json.load(sys.stdin)
    client = chromadb.PersistentClient(plan["dir"])
    answers = []
    for step in plan["steps"]:
        try:
            answers.append({"answer": answer(client, step)})
        except Exception as e:  # the caller judges whether that was right
            answers.append({"error": f"{type(e).__name__}: {e}"})
    json.dump(answers, sys.stdout)


main()
