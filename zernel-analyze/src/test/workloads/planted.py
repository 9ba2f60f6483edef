# SPDX-License-Identifier: Apache-2.0
"""A small PyTorch training on the CPU with one thing that makes it slow; no part of it knows that it may be recorded.

    python3 planted.py CAUSE [FOLDER | LIBRARY]

slow_transforms   samples cost more CPU time than the workers have
in_process        the training thread loads the data itself
slow_storage      samples are read from files in FOLDER that are not in the page cache, throttled where the kernel can do that
new_workers       workers are started anew in each of many short epochs, and take their time
cpu_hog           another process uses the one CPU that the training may use
leak              each step allocates device memory with cudaMalloc of LIBRARY, and keeps it
garbage           Python's collector looks through many objects every few steps, between launches with LIBRARY
checkpoints       model and optimizer are saved in FOLDER every few steps, to a temporary file that is renamed
shards            the first step imports modules named after checkpoints; every few steps read a `.pt` file in FOLDER
hang              one of two processes never comes to an all-reduce of gloo; both are killed some seconds later

Prints what it timed itself as one line of JSON: steps, the wait for data of each, and per step its length, the time in
reads of samples, the time that passes after the first took to begin, all but the first step; and the time in which the
training thread did not run, in all steps but the first ten and between them; the CPU time that Python's collector took; and
the time that checkpoints took.

PLANTED_STEPS is how many steps it takes, if set; PLANTED_BEGAN a file that it makes when the first is done.
"""

import ctypes
import gc
import importlib
import json
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset

STEPS = int(os.environ.get("PLANTED_STEPS", 48))
BEGAN = os.environ.get("PLANTED_BEGAN")
BATCH = 4
WARMUP = 10  # steps that a recording may take for warm-up, where they are long
FILE_BYTES = 1 << 20
BYTES_PER_SECOND = 40 << 20
HANG_S = 5
LEAK_BYTES = 3 << 20
GARBAGE_EVERY = 6
OBJECTS = 500_000
FILE_EVERY = 7
FILE_S = 0.4


class Samples(Dataset):
    """Each costs CPU time, and the reading of a file where there are files."""

    def __init__(self, cpu_ms, files=()):
        self.cpu_s = cpu_ms / 1000
        self.files = files
        self.read_s = 0

    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, index):
        if self.files:
            began = time.perf_counter()
            read_cold(self.files[index % len(self.files)])
            self.read_s += time.perf_counter() - began
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
    throttle(os.stat(folder).st_dev)
    return paths


def throttle(device):
    """Limits what this process reads from a disk; the kernel's cgroups of either version can do that, or it stays fast."""
    disk = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}"
    if os.path.exists(f"{disk}/partition"):
        disk = os.path.dirname(os.path.realpath(disk))
    try:
        with open(f"{disk}/dev") as file:
            number = file.read().strip()
        for root, limits, limit in (
            ("/sys/fs/cgroup/blkio", "blkio.throttle.read_bps_device", f"{number} {BYTES_PER_SECOND}"),
            ("/sys/fs/cgroup", "io.max", f"{number} rbps={BYTES_PER_SECOND}"),
        ):
            group = f"{root}/zernel-planted"
            if os.path.exists(f"{root}/cgroup.procs"):
                os.makedirs(group, exist_ok=True)
                if os.path.exists(f"{group}/{limits}"):
                    for name, text in ((limits, limit), ("cgroup.procs", str(os.getpid()))):
                        with open(f"{group}/{name}", "w") as file:
                            file.write(text)
                    return
    except OSError as error:
        print(f"reading is not throttled: {error}", file=sys.stderr)


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


def hang(folder):
    ranks = [os.fork() or all_reduce_until_one_is_missing(rank, folder) for rank in range(2)]
    while not os.path.exists(f"{folder}/missing"):
        time.sleep(0.1)
    time.sleep(HANG_S)
    for pid in ranks:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return {"waiting": ranks[0], "missing": ranks[1]}


def all_reduce_until_one_is_missing(rank, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    parameter = nn.Parameter(torch.ones(64))
    optimizer = torch.optim.SGD([parameter], lr=0.01)
    for step in range(STEPS):
        parameter.grad = torch.ones(64)
        if rank == 1 and step == STEPS // 2:
            open(f"{folder}/missing", "w").close()
            time.sleep(1000)
        dist.all_reduce(parameter.grad)
        time.sleep(0.01)
        optimizer.step()


class Dim3(ctypes.Structure):
    _fields_ = [(axis, ctypes.c_uint) for axis in "xyz"]


def launch(cuda):
    one = Dim3(1, 1, 1)
    assert cuda.cudaLaunchKernel(ctypes.c_void_p(1), one, one, None, ctypes.c_size_t(0), None) == 0


def save(model, optimizer, folder, step):
    began = time.perf_counter()
    path = os.path.join(folder, f"step-{step}.pt")
    with open(path + ".tmp", "wb") as file:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
        os.fsync(file.fileno())
    time.sleep(FILE_S)  # as slow storage would
    os.replace(path + ".tmp", path)
    return time.perf_counter() - began


def read_shard(model, folder, step):
    if step == 1:
        importlib.import_module("torch.distributed._composable.checkpoint_activation")
        torch.save(model.state_dict(), os.path.join(folder, "shard.pt"))
    if step % FILE_EVERY == 0:
        torch.load(os.path.join(folder, "shard.pt"))
        time.sleep(FILE_S)


class Collections:
    """What the collector took; it only runs when it is told to."""

    def __init__(self):
        self.took_s = 0
        self.objects = [[i] for i in range(OBJECTS)]
        gc.disable()
        gc.callbacks.append(self.tell)

    def tell(self, phase, _):
        self.took_s += time.thread_time() * (1 if phase == "stop" else -1)


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
    cuda = ctypes.CDLL(argument) if cause in ("leak", "garbage") else None
    collections = Collections() if cause == "garbage" else None
    if cause == "cpu_hog":
        hog_of_one_cpu()
    waits = []
    ends = []
    starts = []
    saved_s = 0
    # Over all steps at once: a look at the thread's clock is a system call, at whose end the thread likes to lose its CPU.
    cpu = 0
    for _ in range(epochs):
        began = time.perf_counter()
        source = iter(batches)
        starts.append(time.perf_counter() - began)
        first = len(waits)
        while True:
            began = time.perf_counter()
            batch = next(source, None)
            waited = time.perf_counter() - began
            if batch is None:
                break
            waits.append(waited)
            if cause == "leak":
                assert cuda.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(LEAK_BYTES)) == 0
            optimizer.zero_grad()
            for _ in range(6):
                if collections:
                    launch(cuda)
                loss_of(model(batch[0]), batch[1]).backward()
            if collections and len(waits) % GARBAGE_EVERY == 0:
                gc.collect()
            if cause == "shards":
                read_shard(model, argument, len(waits))
            optimizer.step()
            ends.append(time.perf_counter())
            if BEGAN and len(ends) == 1:
                open(BEGAN, "w").close()
            if len(ends) == WARMUP:
                cpu = time.thread_time()
            if cause == "checkpoints" and len(waits) % FILE_EVERY == 0:
                saved_s += save(model, optimizer, argument, len(waits))
        starts[-1] += waits[first]
    steps = len(ends) - 1
    idle = time.perf_counter() - ends[WARMUP - 1] - (time.thread_time() - cpu)
    return {
        "steps": steps,
        "step_ms": 1000 * (ends[-1] - ends[0]) / steps,
        "waits_ms": [1000 * wait for wait in waits],
        "read_ms": 1000 * getattr(batches.dataset, "read_s", 0) / len(ends),
        "start_ms": 1000 * sum(starts[1:]) / steps,
        "idle_ms": 1000 * idle / (len(ends) - WARMUP),
        "collected_ms": 1000 * collections.took_s / steps if collections else 0,
        "saved_ms": 1000 * saved_s / steps,
    }


if __name__ == "__main__":
    cause, argument = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    print(json.dumps(hang(argument) if cause == "hang" else train(cause, argument)))
    sys.stdout.flush()
    os._exit(0)
