"""MemPalace and chromadb beside us, for the tests in the directory above.

    peer.py write KIND PALACE COLLECTION ID          one record through MemPalace's backend
    peer.py make KIND COLLECTION                     the palaces named on standard input, each when it is named
    peer.py crowd seam|client KIND PALACE COLLECTION NAME MILLISECONDS DIMENSION
    peer.py ask KIND PALACE COLLECTION               everything, as chromadb or MemPalace answers it
    peer.py versions

"write" says "written" or "refused: " and why. "crowd" writes for a while as Crowd of crowd_test.go does, and prints
what it has filed: through MemPalace's backend, or through a chromadb client made for each batch under MemPalace's
lock. MemPalace keeps its locks under $HOME.
"""
import json
import random
import sqlite3
import sys
import time
from importlib.metadata import version


def backend_of(kind):
    if kind == "chroma":
        from mempalace.backends.chroma import ChromaBackend

        return ChromaBackend()
    from mempalace.backends.sqlite_exact import SQLiteExactBackend

    return SQLiteExactBackend()


def opened(backend, path, name, **options):
    from mempalace.backends.base import PalaceRef

    return backend.get_collection(palace=PalaceRef(id=path, local_path=path), collection_name=name, create=False, options=options)


def make(kind, name):
    from mempalace.backends.base import PalaceRef

    backend = backend_of(kind)
    print("ready", flush=True)
    for line in sys.stdin:
        path = line.rstrip("\n")
        try:
            backend.get_collection(palace=PalaceRef(id=path, local_path=path), collection_name=name, create=True)
            print("made", flush=True)
        except Exception as e:
            print(f"{type(e).__name__}: {e}", flush=True)
        backend.close_palace(path)


def vector(dimension):
    return [random.gauss(0, 1) for _ in range(dimension)]


def write(kind, path, name, id):
    from mempalace.palace import MineAlreadyRunning

    backend = backend_of(kind)
    try:
        opened(backend, path, name).upsert(
            ids=[id], documents=["by MemPalace"], metadatas=[{"wing": "w"}], embeddings=[vector(384)])
        print("written")
    except MineAlreadyRunning as refused:
        print("refused:", refused)
    backend.close()


def patiently(do):
    """Tries until the palace is free: nobody of MemPalace's waits by itself."""
    from mempalace.palace import MineAlreadyRunning

    while True:
        try:
            return do()
        except MineAlreadyRunning:
            time.sleep(random.uniform(0.002, 0.01))


def through_seam(kind, path, name):
    backend = backend_of(kind)

    def run(do):
        collection = patiently(lambda: opened(backend, path, name))  # a first opening to write locks, too
        return patiently(lambda: do(collection))

    return run, backend.close


def through_client(kind, path, name):
    import chromadb
    from mempalace.palace import mine_palace_lock

    def run(do):
        with mine_palace_lock(path):
            client = chromadb.PersistentClient(path)
            try:
                return do(client.get_collection(name, embedding_function=None))
            finally:
                client.close()

    return lambda do: patiently(lambda: run(do)), lambda: None


def crowd(how, kind, path, name, own, milliseconds, dimension):
    do, close = {"seam": through_seam, "client": through_client}[how](kind, path, name)
    end = time.monotonic() + milliseconds / 1000
    filed, mine, batch = {}, [], 0

    def put(ids):
        texts = {id: f"{id} as {own} wrote it in batch {batch}" for id in ids}
        args = {"ids": ids, "documents": list(texts.values()), "embeddings": [vector(dimension) for _ in ids],
                "metadatas": [{"wing": own, "room": "crowd", "batch": batch} for _ in ids]}
        do(lambda c: c.upsert(**args))
        filed.update(texts)

    while batch == 0 or time.monotonic() < end:
        new = [f"{own}-{batch}-{i}" for i in range(10)]
        mine += new
        put(new + ["shared"])
        random.shuffle(mine)
        put(mine[:3])
        mine, gone = mine[:-2], mine[-2:]
        do(lambda c: c.delete(ids=gone))
        for id in gone:
            del filed[id]
        batch += 1
    close()
    del filed["shared"]
    json.dump(filed, sys.stdout)


def ask(kind, path, name):
    """All records in their engine's words, and the ids that a search by their own vector does not find first."""
    missed = []
    if kind == "chroma":
        import chromadb

        c = chromadb.PersistentClient(path).get_collection(name, embedding_function=None)
        got = c.get(include=["documents", "embeddings"])
        ids, documents, vectors = got["ids"], got["documents"], [[float(x) for x in v] for v in got["embeddings"]]
    else:
        c = opened(backend_of(kind), path, name)
        got = c.get(include=["documents", "embeddings"])
        ids, documents, vectors = got.ids, got.documents, got.embeddings
    # sqlite_exact compares with every vector there is: of it a few hundred must do.
    step = 1 if kind == "chroma" else 1 + len(ids) // 300
    asked, vectors_asked = ids[::step], vectors[::step]
    for at in range(0, len(asked), 100):
        found = c.query(query_embeddings=vectors_asked[at:at + 100], n_results=1, include=["distances"])
        found = found["ids"] if kind == "chroma" else found.ids
        missed += [id for id, nearest in zip(asked[at:at + 100], found) if nearest[:1] != [id]]
    file = {"chroma": "chroma.sqlite3", "exact": "sqlite_exact.sqlite3"}[kind]
    sound = [r[0] for r in sqlite3.connect(f"{path}/{file}").execute("PRAGMA integrity_check")]
    json.dump({"count": c.count(), "ids": ids, "documents": documents, "embeddings": vectors, "missed": missed,
               "sound": sound}, sys.stdout)


match sys.argv[1:]:
    case ["write", kind, path, name, id]:
        write(kind, path, name, id)
    case ["make", kind, name]:
        make(kind, name)
    case ["crowd", how, kind, path, name, own, milliseconds, dimension]:
        crowd(how, kind, path, name, own, int(milliseconds), int(dimension))
    case ["ask", kind, path, name]:
        ask(kind, path, name)
    case ["versions"]:
        print("mempalace", version("mempalace"), "chromadb", version("chromadb"))
    case _:
        sys.exit(__doc__)
