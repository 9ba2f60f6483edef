# SPDX-License-Identifier: Apache-2.0
"""A small PyTorch training on the CPU with one thing that makes it slow; no part of it knows that it may be recorded.

    python3 planted.py CAUSE [FOLDER | LIBRARY]

slow_transforms   samples cost more CPU time than the workers have
in_process        the training thread loads the data itself
slow_storage      samples are read from files in FOLDER that are not in the page cache
new_workers       workers are started anew in each of many short epochs, and take their time
cpu_hog           another process uses the one CPU that the training may use
leak              each step allocates device memory with cudaMalloc of LIBRARY, and keeps it

Prints what it timed itself as one line of JSON: steps, and per step its length, the wait for data, and the time in which the
training thread was neither waiting for data nor running. All but the first step.
"""

import ctypes
import json
import os
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

STEPS = 48
BATCH = 4
FILE_BYTES = 8 << 20
LEAK_BYTES = 3 << 20


class Samples(Dataset):
    """Each costs CPU time, and the reading of a file where there are files."""

    def __init__(self, cpu_ms, files=()):
        self.cpu_s = cpu_ms / 1000
        self.files = files

    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, index):
        if self.files:
            read_cold(self.files[index % len(self.files)])
        end = time.thread_time() + self.cpu_s
        while time.thread_time() < end:
            pass
        return torch.full((64,), index / STEPS), index % 10


def read_cold(path):
    with open(path, "rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 20):
            pass


def files_in(folder):
    paths = [os.path.join(folder, f"{i}.bin") for i in range(16)]
    for path in paths:
        with open(path, "wb") as file:
            file.write(os.urandom(FILE_BYTES))
            os.fsync(file.fileno())
    return paths


def slow_start(_):
    time.sleep(0.4)


def loader(cause, argument):
    if cause == "slow_transforms":
        return DataLoader(Samples(12), BATCH, num_workers=2), 1
    if cause == "in_process":
        return DataLoader(Samples(4), BATCH), 1
    if cause == "slow_storage":
        return DataLoader(Samples(0.2, files_in(argument)), BATCH), 1
    if cause == "new_workers":
        samples = torch.utils.data.Subset(Samples(1), range(6 * BATCH))
        return DataLoader(samples, BATCH, num_workers=1, worker_init_fn=slow_start), STEPS // 6
    return DataLoader(Samples(0.2), BATCH), 1


def hog_of_one_cpu():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if os.fork() == 0:
        parent = os.getppid()
        while os.getppid() == parent:
            for _ in range(100_000):
                pass
        os._exit(0)


def train(cause, argument):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(64, 600), nn.ReLU(), nn.Linear(600, 600), nn.ReLU(), nn.Linear(600, 10))
    optimizer = torch.optim.AdamW(model.parameters())
    loss_of = nn.CrossEntropyLoss()
    batches, epochs = loader(cause, argument)
    cuda = ctypes.CDLL(argument) if cause == "leak" else None
    if cause == "cpu_hog":
        hog_of_one_cpu()
    waits = []
    ends = []
    idle = []
    for _ in range(epochs):
        source = iter(batches)
        while True:
            began, cpu = time.perf_counter(), time.thread_time()
            batch = next(source, None)
            waited = time.perf_counter() - began
            if batch is None:
                break
            waits.append(waited)
            if cuda:
                assert cuda.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(LEAK_BYTES)) == 0
            optimizer.zero_grad()
            for _ in range(6):
                loss_of(model(batch[0]), batch[1]).backward()
            optimizer.step()
            ends.append(time.perf_counter())
            idle.append(ends[-1] - began - (time.thread_time() - cpu))
    steps = len(ends) - 1
    return {
        "steps": steps,
        "step_ms": 1000 * (ends[-1] - ends[0]) / steps,
        "wait_ms": 1000 * sum(waits[1:]) / steps,
        "idle_ms": 1000 * sum(idle[1:]) / steps,
    }


if __name__ == "__main__":
    print(json.dumps(train(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)))
    sys.stdout.flush()
    os._exit(0)
