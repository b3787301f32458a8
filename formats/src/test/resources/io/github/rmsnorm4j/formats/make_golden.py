"""Writes the golden files beside it, with NumPy (tried: 2.4.6) and safetensors (0.8.0).

    python3 make_golden.py

The tests read what these libraries write, and write the same bytes.
"""

import os

import numpy as np
import safetensors

os.chdir(os.path.dirname(os.path.abspath(__file__)))


def ramp(shape, dtype):
    """0, 0.5, 1, ... minus 2: exact in every type, different everywhere."""
    count = int(np.prod(shape, dtype=np.int64))
    return (np.arange(count, dtype=np.float64) / 2 - 2).reshape(shape).astype(dtype)


def npy(name, array, version=None):
    with open(name, "wb") as file:
        np.lib.format.write_array(file, array, version=version)


npy("f4.npy", ramp((2, 3), "<f4"))
npy("f2.npy", ramp((5,), "<f2"))
npy("f8.npy", ramp((2, 1, 3), "<f8"))
npy("scalar.npy", ramp((), "<f4"))
npy("empty.npy", ramp((0, 3), "<f4"))
npy("long.npy", ramp((1000, 2), "<f2"))
npy("f4_big.npy", ramp((2, 3), ">f4"))
npy("f2_big.npy", ramp((5,), ">f2"))
npy("f8_big.npy", ramp((2, 1, 3), ">f8"))
npy("f4_fortran.npy", np.asfortranarray(ramp((2, 3, 4), "<f4")))
npy("f8_fortran_big.npy", np.asfortranarray(ramp((3, 5), ">f8")))
npy("v2.npy", ramp((2, 3), "<f4"), version=(2, 0))
npy("v3.npy", ramp((2, 3), "<f4"), version=(3, 0))
np.save("int.npy", np.arange(3))
np.save("complex.npy", np.zeros(3, np.complex64))
np.save("object.npy", np.array([1, "a"], dtype=object))
np.save("structured.npy", np.zeros(2, dtype=[("x", "<f4"), ("y", "<f4")]))

BFLOAT16 = (np.arange(8, dtype=np.float32) / 2 - 2).view(np.uint32) >> 16


KEPT = []


def entry(dtype, shape, data):
    buffer = np.frombuffer(data + b"\0", np.uint8)
    KEPT.append(buffer)
    return safetensors.TensorSpec(
        dtype=dtype, shape=shape, data_ptr=buffer.ctypes.data, data_len=len(data)
    )


safetensors.serialize_file(
    {
        "model.norm.weight": entry("bfloat16", [8], BFLOAT16.astype("<u2").tobytes()),
        "hidden": entry("float32", [2, 3], ramp((2, 3), "<f4").tobytes()),
        "wide": entry("float64", [2], ramp((2,), "<f8").tobytes()),
        "half": entry("float16", [3], ramp((3,), "<f2").tobytes()),
        "ids": entry("int64", [2, 1], np.arange(2).tobytes()),
        "mask": entry("bool", [3], b"\x01\x00\x01"),
        "nothing": entry("float32", [0, 4], b""),
        "scalar": entry("float32", [], ramp((), "<f4").tobytes()),
        "größe \"1\"\n": entry("uint8", [1], b"\x07"),
    },
    "mixed.safetensors",
    {"format": "pt", "note": "é \"quoted\" \\ and\ttabbed"},
)
safetensors.serialize_file({}, "nothing.safetensors", None)
