"""Writes a BERT encoder as an ONNX file, the way PyTorch exports one to opset
11: norms and GELU in parts, matrices without a name. numpy is all it needs."""

import struct

import numpy as np


def _varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def _number(field, n):
    return _varint(field << 3) + _varint(n)


def _bytes(field, b):
    b = b.encode() if isinstance(b, str) else b
    return _varint(field << 3 | 2) + _varint(len(b)) + b


def _tensor(name, array):
    kind = {"float32": 1, "int64": 7}[str(array.dtype)]
    dims = b"".join(_number(1, d) for d in array.shape)
    return dims + _number(2, kind) + (_bytes(8, name) if name else b"") + _bytes(9, array.tobytes())


def _value(name, kind, dims):
    shape = b"".join(_bytes(1, _number(1, d) if isinstance(d, int) else _bytes(2, d)) for d in dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


class Graph:
    def __init__(self):
        self.nodes, self.tensors, self.names = [], [], 0

    def node(self, op, *inputs, **attributes):
        self.names += 1
        out = "/%s_%d_output_0" % (op, self.names)
        b = b"".join(_bytes(1, i) for i in inputs) + _bytes(2, out) + _bytes(4, op)
        for key, v in attributes.items():
            a = _bytes(1, key)
            if isinstance(v, np.ndarray):
                a += _bytes(5, _tensor("", v)) + _number(20, 4)
            elif isinstance(v, list):
                a += b"".join(_number(8, x) for x in v) + _number(20, 7)
            else:
                a += _number(3, v) + _number(20, 2)
            b += _bytes(5, a)
        self.nodes.append(b)
        return out

    def constant(self, v, kind=np.float32):
        return self.node("Constant", value=np.array(v, dtype=kind))

    def weight(self, name, array):
        self.tensors.append(_tensor(name, array))
        return name


def onnx_bytes(config, w):
    """config is config.json, w the tensors as PyTorch names and shapes them."""
    g, hidden, heads = Graph(), config["hidden_size"], config["num_attention_heads"]
    width = hidden // heads

    def norm(x, name):
        mean = g.node("ReduceMean", x, axes=[-1])
        off = g.node("Sub", x, mean)
        var = g.node("ReduceMean", g.node("Pow", off, g.constant(2)), axes=[-1])
        root = g.node("Sqrt", g.node("Add", var, g.constant(config["layer_norm_eps"])))
        scaled = g.node("Mul", g.node("Div", off, root), g.weight(name + ".weight", w[name + ".weight"]))
        return g.node("Add", scaled, g.weight(name + ".bias", w[name + ".bias"]))

    def linear(x, name):
        g.names += 1
        matrix = g.weight("onnx::MatMul_%d" % g.names, w[name + ".weight"].T)
        return g.node("Add", g.weight(name + ".bias", w[name + ".bias"]), g.node("MatMul", x, matrix))

    mask = g.node("Cast", g.node("Unsqueeze", g.node("Unsqueeze", "attention_mask", axes=[1]), axes=[2]), to=1)
    mask = g.node("Mul", g.node("Sub", g.constant(1), mask), g.constant(np.finfo(np.float32).min))
    length = g.node("Gather", g.node("Shape", "input_ids"), g.constant(1, np.int64), axis=0)
    end = g.node("Unsqueeze", length, axes=[0])
    one, zero = g.constant([1], np.int64), g.constant([0], np.int64)
    places = np.arange(w["embeddings.position_embeddings.weight"].shape[0], dtype=np.int64)[None]
    place = g.node("Slice", g.weight("embeddings.position_ids", places), zero, end, one, one)

    def gather(name, ids):
        return g.node("Gather", g.weight(name, w[name]), ids)

    x = g.node("Add", gather("embeddings.word_embeddings.weight", "input_ids"),
               gather("embeddings.token_type_embeddings.weight", "token_type_ids"))
    x = norm(g.node("Add", x, gather("embeddings.position_embeddings.weight", place)), "embeddings.LayerNorm")
    for i in range(config["num_hidden_layers"]):
        at = "encoder.layer.%d." % i

        def split(name, perm):
            apart = g.node("Reshape", linear(x, at + "attention.self." + name), g.constant([0, 0, heads, width], np.int64))
            return g.node("Transpose", apart, perm=perm)

        query, key, value = split("query", [0, 2, 1, 3]), split("key", [0, 2, 3, 1]), split("value", [0, 2, 1, 3])
        scores = g.node("Div", g.node("MatMul", query, key), g.constant(width**0.5))
        shares = g.node("Softmax", g.node("Add", scores, mask), axis=3)
        mixed = g.node("Transpose", g.node("MatMul", shares, value), perm=[0, 2, 1, 3])
        mixed = g.node("Reshape", mixed, g.constant([0, 0, hidden], np.int64))
        x = norm(g.node("Add", linear(mixed, at + "attention.output.dense"), x), at + "attention.output.LayerNorm")
        up = linear(x, at + "intermediate.dense")
        erf = g.node("Erf", g.node("Div", up, g.constant(2**0.5)))
        gelu = g.node("Mul", g.node("Mul", up, g.node("Add", erf, g.constant(1))), g.constant(0.5))
        x = norm(g.node("Add", linear(gelu, at + "output.dense"), x), at + "output.LayerNorm")

    # A graph's output has a name of its own: the last node is told again.
    last = g.nodes.pop()
    old = "/Add_%d_output_0" % g.names
    g.nodes.append(last.replace(_bytes(2, old), _bytes(2, "last_hidden_state")))
    dims = ["batch_size", "sequence_length"]
    graph = b"".join(_bytes(1, n) for n in g.nodes) + _bytes(2, "torch_jit") + b"".join(_bytes(5, t) for t in g.tensors)
    for name in ("input_ids", "attention_mask", "token_type_ids"):
        graph += _bytes(11, _value(name, 7, dims))
    graph += _bytes(12, _value("last_hidden_state", 1, dims + [hidden]))
    return _number(1, 6) + _bytes(2, "pytorch") + _bytes(7, graph) + _bytes(8, _number(2, 11))


def read_safetensors(path):
    import json

    with open(path, "rb") as f:
        (size,) = struct.unpack("<Q", f.read(8))
        header, body = json.loads(f.read(size)), f.read()
    return {
        name: np.frombuffer(body, np.float32, offset=t["data_offsets"][0], count=int(np.prod(t["shape"]))).reshape(t["shape"])
        for name, t in header.items()
        if name != "__metadata__" and t["dtype"] == "F32"
    }


def write_safetensors(path, w):
    import json

    header, at = {}, 0
    for name, a in w.items():
        header[name] = {"dtype": "F32", "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        at += a.nbytes
    b = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(b)) + b + b"".join(np.ascontiguousarray(a).tobytes() for a in w.values()))
