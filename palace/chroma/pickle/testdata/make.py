"""Writes index metadata as Python pickles it: make.py DIRECTORY [IDS].

The class stands under the module name chromadb 0.x gave it, so chromadb itself
is not needed.
"""
import os
import pickle
import sys
import types

MODULE = "chromadb.segment.impl.vector.local_persistent_hnsw"
parts = MODULE.split(".")
for i in range(1, len(parts) + 1):
    sys.modules[".".join(parts[:i])] = types.ModuleType(".".join(parts[:i]))


class PersistentData:
    pass


PersistentData.__module__ = MODULE
sys.modules[MODULE].PersistentData = PersistentData


class Spelled(PersistentData):
    """The same instance, spelled with copyreg as older pickles are."""

    def __reduce__(self):
        import copyreg

        return copyreg._reconstructor, (PersistentData, object, None), self.__dict__


def state(n, old):
    ids = ["drawer_%d" % i for i in range(n)] + ["snow \u96ea", "lone \ud800"]
    labels = {s: i + 1 for i, s in enumerate(ids)}
    return dict(
        dimensionality=384 if old else None,
        total_elements_added=n + 7,
        max_seq_id=2**40 + 3 if old else None,
        id_to_label=labels,
        label_to_id={i: s for s, i in labels.items()},
        id_to_seq_id={s: 2**33 + i for s, i in labels.items()} if old else {},
    )


def main():
    out, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    for protocol in 2, 3, 4, 5:
        for name, cls in ("dict", None), ("class", PersistentData), ("spelled", Spelled):
            data = state(n, cls is not None)
            if cls:
                data, fields = cls(), data
                data.__dict__.update(fields)
            with open(os.path.join(out, "%s-%d.pickle" % (name, protocol)), "wb") as f:
                pickle.dump(data, f, protocol)


main()
