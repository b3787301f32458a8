"""PyTorch's norms, for a process that writes a line and reads a line. Arguments: DEVICE FOLDER

  answer JOB KIND TYPE ROWS WIDTH EPSILON     reads x, dy and gain in FOLDER and writes out there
  time JOB KIND TYPE ROWS WIDTH EPSILON PLACES CALLS ROUNDS     gives microseconds
  -> ok ...   or   failed WHY
"""
import ctypes
import os
import sys

import torch
import torch.nn.functional as functional

TYPES = {"FLOAT32": torch.float32, "BFLOAT16": torch.bfloat16}


def read(path, dtype, shape):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    return torch.frombuffer(data, dtype=dtype).reshape(shape).to(device)


def write(file, tensor):
    tensor = tensor.detach().cpu().contiguous()
    file.write(ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size()))


class Work:
    """A call at one place: x, dy, and what it makes."""

    def __init__(self, job, kind, gain, epsilon, x, dy):
        self.job, self.kind, self.gain, self.epsilon = job, kind, gain, epsilon
        self.x, self.dy, self.shape = x, dy, (x.shape[-1],)
        self.residual = x.clone() if job == "RESIDUAL" else None
        if job.startswith("BACKWARD"):
            self.kept = self.forward_kept()

    def forward(self, x):
        if self.kind == "LAYER_NORM":
            return functional.layer_norm(x, self.shape, self.gain, self.gain, self.epsilon)
        return functional.rms_norm(x, self.shape, self.gain, self.epsilon)

    def forward_kept(self):
        if self.kind == "LAYER_NORM":
            return torch.ops.aten.native_layer_norm(
                self.x, self.shape, self.gain, self.gain, self.epsilon)[1:]
        return torch.ops.aten._fused_rms_norm(self.x, self.shape, self.gain, self.epsilon)[1:]

    def run(self):
        if self.job == "FORWARD":
            return [self.forward(self.x)]
        if self.job == "RESIDUAL":
            self.residual.add_(self.x)
            return [self.forward(self.residual), self.residual]
        wanted = self.job == "BACKWARD_GAIN"
        if self.kind == "LAYER_NORM":
            made = torch.ops.aten.native_layer_norm_backward(
                self.dy, self.x, self.shape, *self.kept, self.gain, self.gain,
                [True, wanted, False])
        else:
            made = torch.ops.aten._fused_rms_norm_backward(
                self.dy, self.x, self.shape, *self.kept, self.gain, [True, wanted])
        return [made[0]] + ([made[1]] if wanted else [])


def answer(job, kind, dtype, rows, width, epsilon):
    dtype, shape = TYPES[dtype], (int(rows), int(width))
    x = read(os.path.join(folder, "x"), dtype, shape)
    dy = read(os.path.join(folder, "dy"), dtype, shape)
    gain = read(os.path.join(folder, "gain"), dtype, shape[1:])
    with open(os.path.join(folder, "out"), "wb") as file:
        for tensor in Work(job, kind, gain, float(epsilon), x, dy).run():
            write(file, tensor)
    return "ok"


def time(job, kind, dtype, rows, width, epsilon, places, calls, rounds):
    dtype, shape = TYPES[dtype], (int(rows), int(width))
    gain = torch.rand(shape[1:], device=device).to(dtype)
    works = []
    for _ in range(int(places)):
        x = torch.rand(shape, device=device, dtype=torch.float32).to(dtype)
        works.append(Work(job, kind, gain, float(epsilon), x, x.clone()))
    begin = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    times = []
    for turn in range(-3, int(rounds)):
        begin.record()
        for i in range(int(calls)):
            works[i % len(works)].run()
        end.record()
        end.synchronize()
        if turn >= 0:
            times.append(begin.elapsed_time(end) * 1000 / int(calls))
    return "ok " + " ".join("%.3f" % t for t in times)


def main(lines, reply):
    for line in lines:
        words = line.split()
        try:
            with torch.no_grad():
                reply((answer if words[0] == "answer" else time)(*words[1:]))
        except Exception as e:
            reply("failed " + (" ".join(str(e).split()) or type(e).__name__)[:300])
        torch.cuda.empty_cache()


if not torch.cuda.is_available():
    print("failed torch %s sees no CUDA device" % torch.__version__, flush=True)
    sys.exit(0)
device, folder = torch.device("cuda", int(sys.argv[1])), sys.argv[2]
torch.cuda.set_device(device)
print("ok torch %s on %s" % (torch.__version__, torch.cuda.get_device_name(device)), flush=True)
main(sys.stdin, lambda text: print(text, flush=True))
