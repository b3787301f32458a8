import math
import struct

import torch


def rms_norm(x, shape, gain, epsilon):
    values, factors, made = x.values(), gain.values(), []
    for start in range(0, len(values), shape[0]):
        row = values[start:start + shape[0]]
        root = math.sqrt(sum(v * v for v in row) / len(row) + epsilon)
        made.extend(v / root * g for v, g in zip(row, factors))
    return torch.Tensor(bytearray(struct.pack("=%df" % len(made), *made)), x.shape)
