"""As much of PyTorch as the script for it needs for an RMSNorm of float32 rows, on no GPU."""
import contextlib
import ctypes
import struct

__version__ = "0.0"
float32, bfloat16 = 4, 2


class Tensor:
    def __init__(self, data, shape):
        self.data, self.shape = data, shape

    def values(self):
        return struct.unpack("=%df" % (len(self.data) // 4), self.data)

    def reshape(self, shape):
        return Tensor(self.data, tuple(shape))

    def to(self, _):
        return self

    def clone(self):
        return Tensor(bytearray(self.data), self.shape)

    def detach(self):
        return self

    cpu = contiguous = detach

    def data_ptr(self):
        self.pinned = (ctypes.c_char * len(self.data)).from_buffer(self.data)
        return ctypes.addressof(self.pinned)

    def numel(self):
        return len(self.data) // 4

    def element_size(self):
        return 4


def frombuffer(data, dtype):
    return Tensor(data, (len(data) // dtype,))


def rand(shape, device=None, dtype=float32):
    count = 4
    for n in shape:
        count *= n
    return Tensor(bytearray(count), tuple(shape))


def device(*_):
    return "cuda"


@contextlib.contextmanager
def no_grad():
    yield


class Event:
    def __init__(self, enable_timing):
        self.timed = enable_timing

    def record(self):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, _):
        return 0.06


class cuda:
    Event = Event
    is_available = staticmethod(lambda: True)
    set_device = staticmethod(lambda _: None)
    get_device_name = staticmethod(lambda _: "no GPU")
    empty_cache = staticmethod(lambda: None)
