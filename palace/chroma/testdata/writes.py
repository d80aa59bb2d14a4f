"""Upserts drawers by way of a real chromadb and prints the seconds it took.

    writes.py DIR RECORDS BATCH

The collection is made as MemPalace makes it. Texts, metadata and the lengths
of vectors are those of BenchmarkUpserts; making them is not timed.
"""
import sys
import time

import chromadb
import numpy

directory, records, batch = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def text(i):
    words, x = [], i + 1
    for _ in range(120):
        x = (x * 1103515245 + 12345) % 2147483648
        words.append("word%d" % (x // 65536 % 5000))
    return " ".join(words)


def metadata(i):
    return {"wing": f"wing_{i % 7}", "room": f"room_{i % 40}", "hall": "facts", "source_file": f"/home/ada/notes/{i // 20}.md",
            "chunk_index": i % 20, "added_by": "mine", "filed_at": "2026-01-02T03:04:05", "importance": 0.5}


documents = [text(i) for i in range(records)]
vectors = numpy.random.default_rng(1).standard_normal((records, 384), dtype=numpy.float32)
client = chromadb.PersistentClient(directory)
collection = client.create_collection("mempalace_drawers", embedding_function=None, metadata={
    "hnsw:space": "cosine", "hnsw:num_threads": 1, "hnsw:batch_size": 100, "hnsw:sync_threshold": 1000})
began = time.perf_counter()
for start in range(0, records, batch):
    span = range(start, min(start + batch, records))
    collection.upsert(ids=[f"drawer_{i}" for i in span], documents=documents[span.start:span.stop],
                      embeddings=vectors[span.start:span.stop], metadatas=[metadata(i) for i in span])
print(time.perf_counter() - began)
