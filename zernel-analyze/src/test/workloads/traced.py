# SPDX-License-Identifier: Apache-2.0
"""A training whose GPU is made up: it writes the trace that PyTorch's profiler would have written, with the GPU's true times.

    python3 traced.py LIBRARY TRACE

Calls of cudaLaunchKernel and cudaStreamSynchronize of LIBRARY, regions of PyTorch and waits for data are real. A kernel
runs 5 us after its call, or when its stream is free. The trace's clock is 5 ms ahead.

Prints as JSON what the GPU did, in nanoseconds. A wait for data is a region between `next` and the making of the batch:
idle_waiting_for_data is its least and its greatest, all else is exact.
"""

import ctypes
import json
import os
import sys
import threading
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

STEPS = 30
AHEAD_NS = 5_000_000
COMPUTE, COMMUNICATION = 7, 20


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class Samples(Dataset):
    def __len__(self):
        return STEPS

    def __getitem__(self, index):
        time.sleep(0.01)
        return torch.full((8,), index / STEPS)


class Gpu:
    def __init__(self, library):
        self.cudart = ctypes.CDLL(library)
        self.cudart.cudaLaunchKernel.argtypes = [
            ctypes.c_void_p, Dim3, Dim3, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
        self.cudart.cudaStreamSynchronize.argtypes = [ctypes.c_void_p]
        self.calls = []
        self.kernels = []
        self.free = {COMPUTE: 0, COMMUNICATION: 0}

    def call(self, function, *arguments):
        began = time.time_ns()
        function(*arguments)
        self.calls.append((function.__name__, began, time.time_ns()))
        return began

    def launch(self, name, stream, micros):
        one = Dim3(1, 1, 1)
        called = self.call(self.cudart.cudaLaunchKernel, None, one, one, None, 0, None)
        start = max(called + 5000, self.free[stream])
        self.free[stream] = start + micros * 1000
        self.kernels.append((name, stream, start, self.free[stream], len(self.calls)))

    def wait(self):
        self.call(self.cudart.cudaStreamSynchronize, None)
        while time.time_ns() < max(self.free.values()):
            pass

    def write(self, path):
        pid, tid = os.getpid(), threading.get_native_id()
        base = self.calls[0][1] // 10**9 * 10**9

        def event(category, name, owner, lane, start, end, arguments):
            nanos = start + AHEAD_NS - base
            return (f'{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {owner}, "tid": {lane}, '
                    f'"ts": {nanos // 1000}.{nanos % 1000:03}, "dur": {(end - start) // 1000}.{(end - start) % 1000:03}, '
                    f'"args": {json.dumps(arguments)}}}')

        events = [event("cuda_runtime", name, pid, tid, start, end, {"correlation": number})
                  for number, (name, start, end) in enumerate(self.calls, 1)]
        events += [event("kernel", name, 0, stream, start, end, {"device": 0, "stream": stream, "correlation": number})
                   for name, stream, start, end, number in self.kernels]
        with open(path, "w") as file:
            file.write(f'{{"baseTimeNanoseconds": {base}, "traceEvents": [\n' + ",\n".join(events) + "\n]}")

    def truth(self, makes, nexts):
        compute = union([(k[2], k[3]) for k in self.kernels if k[1] == COMPUTE])
        busy = union([(k[2], k[3]) for k in self.kernels])
        gaps = [(before[1], after[0]) for before, after in zip(busy, busy[1:])]
        return {
            "kernels": len(self.kernels),
            "profiled": busy[-1][1] - busy[0][0],
            "busy": length(busy),
            "compute": length(compute),
            "exposed_communication": length(busy) - length(compute),
            "idle": length(gaps),
            "idle_waiting_for_data": [shared(gaps, makes), shared(gaps, nexts)],
        }


def union(intervals):
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def length(intervals):
    return sum(end - start for start, end in intervals)


def shared(some, others):
    return sum(max(0, min(one[1], other[1]) - max(one[0], other[0])) for one in some for other in others)


def timed(function, times):
    def call():
        began = time.time_ns()
        result = function()
        times.append((began, time.time_ns()))
        return result

    return call


def train(gpu):
    model = nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    makes, nexts = [], []
    source = iter(DataLoader(Samples()))
    source._next_data = timed(source._next_data, makes)
    next_batch = timed(source.__next__, nexts)
    for _ in range(STEPS):
        batch = next_batch()
        optimizer.zero_grad()
        loss = model(batch).sum()
        for _ in range(10):
            gpu.launch("forward_gemm", COMPUTE, 300)
        loss.backward()
        for _ in range(5):
            gpu.launch("backward_gemm", COMPUTE, 300)
            gpu.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", COMMUNICATION, 1200)
        gpu.wait()
        optimizer.step()
        gpu.launch("multi_tensor_apply_kernel", COMPUTE, 100)
    return makes, nexts


if __name__ == "__main__":
    pretended = Gpu(sys.argv[1])
    waits = train(pretended)
    pretended.write(sys.argv[2])
    print(json.dumps(pretended.truth(*waits)))
    sys.stdout.flush()
    os._exit(0)
