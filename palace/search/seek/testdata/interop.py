"""Searches a palace with MemPalace and with chromadb, for interop_test.go.

Reads {"palace", "collection", "words": [{"query", "n", "wing", "room"}], "vectors": [[...]], "n"} and answers
{"words": [[{"id", "bm25"}]], "vectors": [{"ids", "distances"}]}.
"""

import json
import sys

ask = json.load(sys.stdin)

from mempalace import searcher  # noqa: E402

words = []
for w in ask["words"]:
    got = searcher._bm25_only_via_sqlite(
        w["query"], ask["palace"], wing=w.get("wing"), room=w.get("room"), n_results=w["n"],
        collection_name=ask["collection"],
    )
    words.append([{"id": h["drawer_id"], "bm25": h["bm25_score"]} for h in got["results"]])

import chromadb  # noqa: E402

c = chromadb.PersistentClient(path=ask["palace"]).get_collection(ask["collection"], embedding_function=None)
got = c.query(query_embeddings=ask["vectors"], n_results=ask["n"], include=["distances"])
vectors = [{"ids": i, "distances": d} for i, d in zip(got["ids"], got["distances"])]
json.dump({"words": words, "vectors": vectors}, sys.stdout)
