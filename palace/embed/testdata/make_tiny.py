"""Makes tiny/: a model of two layers with random weights, and what chromadb's
embedding function answers with it. Run beside onnxfile.py with chromadb 1.5.9:
  python make_tiny.py TOKENIZER_JSON
where TOKENIZER_JSON is that of all-MiniLM-L6-v2, of which a few pieces are kept.
"""

import json
import os
import subprocess
import sys

import numpy as np

import onnxfile

here = os.path.dirname(os.path.abspath(__file__))
out = os.path.join(here, "tiny")
os.makedirs(out, exist_ok=True)
with open(sys.argv[1]) as f:
    tokenizer = json.load(f)
keep = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
keep += [chr(c) for c in range(ord("a"), ord("z") + 1)] + ["##" + chr(c) for c in range(ord("a"), ord("z") + 1)]
keep += list("0123456789.,!?'-[]#") + ["the", "palace", "drawer", "##er", "##ing", "##s", "is", "of", "cafe", "über", "weather", "中", "文"]
old = tokenizer["model"]["vocab"]
tokenizer["model"]["vocab"] = {p: i for i, p in enumerate(keep)}
for t in tokenizer["added_tokens"]:
    t["id"] = keep.index(t["content"])
post = tokenizer["post_processor"]["special_tokens"]
for t in post.values():
    t["ids"] = [keep.index(t["id"])]
with open(os.path.join(out, "tokenizer.json"), "w") as f:
    json.dump(tokenizer, f, ensure_ascii=False, separators=(",", ":"))
config = {
    "model_type": "bert", "hidden_act": "gelu", "hidden_size": 20, "intermediate_size": 44, "layer_norm_eps": 1e-12,
    "max_position_embeddings": 256, "num_attention_heads": 2, "num_hidden_layers": 2, "position_embedding_type": "absolute",
    "type_vocab_size": 2, "vocab_size": len(keep),
}
with open(os.path.join(out, "config.json"), "w") as f:
    json.dump(config, f)
rng = np.random.default_rng(1)
h, inner = config["hidden_size"], config["intermediate_size"]
w = {}


def add(name, *shape, about=0.0, spread=0.5):
    w[name] = (about + spread * rng.standard_normal(shape)).astype(np.float32)


def norm(name):
    add(name + ".weight", h, about=1, spread=0.2)
    add(name + ".bias", h, spread=0.2)


def linear(name, i, o):
    add(name + ".weight", o, i)
    add(name + ".bias", o)


add("embeddings.word_embeddings.weight", len(keep), h)
add("embeddings.position_embeddings.weight", config["max_position_embeddings"], h)
add("embeddings.token_type_embeddings.weight", 2, h)
norm("embeddings.LayerNorm")
for i in range(config["num_hidden_layers"]):
    at = "encoder.layer.%d." % i
    for name in ("query", "key", "value"):
        linear(at + "attention.self." + name, h, h)
    linear(at + "attention.output.dense", h, h)
    norm(at + "attention.output.LayerNorm")
    linear(at + "intermediate.dense", h, inner)
    linear(at + "output.dense", inner, h)
    norm(at + "output.LayerNorm")
with open(os.path.join(out, "model.onnx"), "wb") as f:
    f.write(onnxfile.onnx_bytes(config, w))
onnxfile.write_safetensors(os.path.join(out, "model.safetensors"), w)
texts = [
    "", "The palace", "the weather is of the palace drawers.", "Café ÜBER 中文!", "[CLS] raw [SEP] [cls]", "word " * 300,
    "a" * 100 + " " + "b" * 101, "the\u0000 pal\u00adace\u200b's\tdrawer\n\u3000is", "ﬁne İstanbul ΣΑΣ \U00011938", "?" * 13, "x",
]


def ask(what):
    peer = [sys.executable, os.path.join(here, "peer.py"), what, out]
    return json.loads(subprocess.run(peer, input=json.dumps(texts), stdout=subprocess.PIPE, text=True, check=True).stdout)


golden = [{"text": t, "ids": i, "vector": v} for t, i, v in zip(texts, ask("ids"), ask("vectors"))]
with open(os.path.join(out, "golden.json"), "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(g) for g in golden) + "\n]\n")
