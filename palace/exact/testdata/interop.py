"""Plays steps against MemPalace's own sqlite_exact backend and prints what it answers to each.

Reads JSON lines on standard input: {"palace": ..., "collection": ..., "op": ..., "args": ...}, and keeps its handles
until the input ends. MemPalace keeps its locks under $HOME, which should be a scratch one.
"""
import json
import sys

from mempalace.backends.base import EmbedderIdentity, PalaceRef
from mempalace.backends.sqlite_exact import SQLiteExactBackend

backend = SQLiteExactBackend()


def collection(step, create=False):
    ref = PalaceRef(id=step["palace"], local_path=step["palace"])
    return backend.get_collection(palace=ref, collection_name=step["collection"], create=create,
                                  options={"read_only": bool(step.get("read_only"))})


def play(step):
    op, args = step["op"], step.get("args") or {}
    if op == "create_collection":
        collection(step, create=True)
        return None
    if op == "delete_collection":
        backend.delete_collection(step["palace"], step["collection"])
        return None
    c = collection(step)
    if op == "set_embedder":
        return c.set_embedder_identity(EmbedderIdentity(model_name=args["model"], dimension=0))
    if op == "embedder":
        found = c.get_stored_embedder_identity()
        return found and [found.model_name, found.dimension]
    if op == "get":
        r = c.get(include=["documents", "metadatas", "embeddings"], **args)
        return {"ids": r.ids, "documents": r.documents, "metadatas": r.metadatas, "embeddings": r.embeddings}
    if op == "query":
        r = c.query(include=["distances", "documents"], **args)
        return {"ids": r.ids[0], "distances": r.distances[0], "documents": r.documents[0]}
    if op == "lexical_search":
        hits = c.lexical_search(**args).hits
        return {"ids": [h.id for h in hits], "scores": [h.score for h in hits]}
    return getattr(c, op)(**args)


for line in sys.stdin:
    try:
        answer = {"answer": play(json.loads(line))}
    except Exception as e:
        answer = {"error": f"{type(e).__name__}: {e}"}
    print(json.dumps(answer), flush=True)
backend.close()
