"""Writes mixed.gguf beside it, with ggml's own Python package (tried: gguf 0.10.0, NumPy 2.4.6).

    python3 make_golden_gguf.py

The tests read what this package writes.
"""

import os

import gguf
import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))


def ramp(shape, dtype):
    """0, 0.5, 1, ... minus 2: exact in every type, different everywhere."""
    count = int(np.prod(shape, dtype=np.int64))
    return (np.arange(count, dtype=np.float64) / 2 - 2).reshape(shape).astype(dtype)


Q = gguf.GGMLQuantizationType
writer = gguf.GGUFWriter("mixed.gguf", "llama")
writer.add_block_count(1)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_string("general.name", "größe \"1\"\n")
writer.add_bool("tokenizer.ggml.add_bos_token", True)
writer.add_array("tokenizer.ggml.tokens", ["<s>", "a", "ü"])
writer.add_array("tokenizer.ggml.scores", [0.5, -1.5])
writer.add_uint64("u64", 2**64 - 1)
writer.add_int8("i8", -5)
writer.add_float64("f64", 0.1)
writer.add_tensor("output_norm.weight", ramp((8,), np.float32))
writer.add_tensor("half", ramp((2, 3), np.float16))
brain = (ramp((4, 2), np.float32).view(np.uint32) >> 16).astype(np.uint16)
writer.add_tensor("brain", brain.view(np.uint8).reshape(4, 4), raw_dtype=Q.BF16)
writer.add_tensor("wide", ramp((2, 1, 2), np.float64))
writer.add_tensor("ids", np.arange(3, dtype=np.int32))
for kind in (Q.Q8_0, Q.Q4_0):
    blocks = gguf.quants.quantize(ramp((2, 64), np.float32), kind)
    writer.add_tensor("blk.0." + kind.name.lower(), blocks, raw_dtype=kind)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
