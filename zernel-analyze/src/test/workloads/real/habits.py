# SPDX-License-Identifier: Apache-2.0
"""Habits of programs that cost more than they look: a bound CPU, mapped files, locks on files, numbers of each parameter."""

import cProfile
import copy
import fcntl
import mmap
import os
import subprocess
import sys

import torch
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset

from clock import keep_memory
from loading import SLOW
from storage import Shards
from training import BATCH, fit, in_memory, network, pictures


def pinned(run):
    """The process is bound to one CPU, as some runtimes of OpenMP do, and its worker inherits that."""
    if run.planted:
        os.sched_setaffinity(0, {0})
    fit(run, pictures(run, SLOW, num_workers=1))


class Mapped(Dataset):
    """Samples in files that are mapped, as data sets of Arrow and LMDB are."""

    def __init__(self, shards):
        self.paths = shards.paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with open(self.paths[index], "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as view:
            every = view[::4096]  # planted: mapped
        return torch.full((3, 32, 32), every[0] / 255), index % 10


def mapped(run):
    fit(run, DataLoader(Mapped(Shards(run, run.steps * 4, cold=run.planted)), 4, num_workers=0))


def file_lock(run):
    """Each step takes a lock on a file, which another process holds most of the time."""
    path = os.path.join(run.folder, "lock")
    holding = f"import fcntl, time\nfile = open({path!r}, 'w')\nwhile True:\n  fcntl.flock(file, fcntl.LOCK_EX); time.sleep(0.02)\n  fcntl.flock(file, fcntl.LOCK_UN); time.sleep(0.005)"
    holder = subprocess.Popen([sys.executable, "-c", holding]) if run.planted else None
    file = open(path, "w")

    def guarded():
        fcntl.flock(file, fcntl.LOCK_EX)  # planted: lock
        fcntl.flock(file, fcntl.LOCK_UN)

    fit(run, in_memory(run), after_step=guarded)
    if holder:
        holder.kill()
        holder.wait()


def norms(run):
    """The norm of each parameter and of its gradient is taken for a log in each step."""
    model = torch.nn.Sequential(network(), *[torch.nn.Linear(10, 10) for _ in range(60)])

    def log():
        if run.planted:
            for parameter in model.parameters():
                parameter.grad.norm().item(), parameter.norm().item(), parameter.grad.abs().max().item()  # planted: norms
                parameter.grad.isnan().any().item(), parameter.std().item()  # planted: norms

    fit(run, in_memory(run), model, after_step=log)


def anomaly(run):
    """Anomaly detection was left on."""
    torch.autograd.set_detect_anomaly(run.planted)
    model = torch.nn.Sequential(network(), *[torch.nn.Linear(10, 10) for _ in range(60)])
    fit(run, in_memory(run), model)


def tokens(text):
    """Numbers of words, made by functions that are called for each letter."""
    return [word_number(word) for word in text.split()]


def word_number(word):
    number = 7
    for letter in word:
        number = mixed(number, letter)
    return number % 500


def mixed(number, letter):
    return number * 31 + ord(letter) & 65535


def cprofile(run):
    """cProfile was left on around a loop whose text is tokenized in Python."""
    texts = [" ".join(f"w{(i * 7 + j * 13) % 999}" for j in range(24)) for i in range(512)]
    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Embedding(500, 64), torch.nn.Flatten(), torch.nn.Linear(64 * 24, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))

    def batches():
        for step in range(run.steps):
            rows = [tokens(texts[(step * 64 + row) % 512]) for row in range(64)]
            yield torch.tensor(rows), torch.randint(0, 10, (64,))

    if run.planted:
        profile = cProfile.Profile()
        profile.enable()
    fit(run, batches(), model)


def grad_hook(run):
    """A hook of each gradient counts its values in Python, in each backward pass."""
    model = network()
    histograms = {}

    def watch(name):
        def histogram(grad):
            bins = [0] * 64
            for value in grad.flatten().tolist()[:20000]:  # planted: histogram
                bins[min(63, int(abs(value) * 1e4))] += 1  # planted: histogram
            histograms[name] = bins
        return histogram

    if run.planted:
        for name, parameter in model.named_parameters():
            parameter.register_hook(watch(name))
    fit(run, in_memory(run), model)


def recomputed(run):
    """Activations are computed again in the backward pass, though there is memory for them."""
    torch.set_num_threads(1)
    blocks = [torch.nn.Sequential(torch.nn.Conv2d(24, 24, 3, padding=1), torch.nn.GELU()) for _ in range(6)]

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.blocks, self.last = torch.nn.Conv2d(3, 24, 3, stride=2), torch.nn.ModuleList(blocks), torch.nn.Linear(24, 10)

        def forward(self, x):
            x = self.first(x)
            for block in self.blocks:
                x = checkpoint(block, x, use_reentrant=False) if run.planted else block(x)
            return self.last(x.mean((2, 3)))

    fit(run, in_memory(run), Net())


def keep_best(run):
    """The best model is copied every 10 steps, and there are many parameters."""
    model = torch.nn.Sequential(network(), *[torch.nn.Linear(10, 10) for _ in range(400)])
    best = []
    steps = iter(range(1, run.steps + 1))

    def keep():
        if next(steps) % 10 == 0 and run.planted:
            best[:] = [copy.deepcopy(model)]  # planted: keep

    fit(run, in_memory(run, BATCH), model, after_step=keep)


def heap(run):
    """malloc gives the memory of large activations back to the kernel in each step, as it does unless it is told not to."""
    if not run.planted or run.advice:
        keep_memory()
    fit(run, in_memory(run, 4 * BATCH))


def profiler(run):
    """The profiler, with its stacks, was left on for the whole job."""
    model = torch.nn.Sequential(network(), *[torch.nn.Linear(10, 10) for _ in range(60)])
    if not run.planted:
        fit(run, in_memory(run), model)
        return
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, with_stack=True):
        fit(run, in_memory(run), model)


def profiler_cycles(run):
    """The profiler was left on with a schedule, and writes a trace every 15 steps."""
    model = torch.nn.Sequential(network(), *[torch.nn.Linear(10, 10) for _ in range(60)])
    if not run.planted:
        fit(run, in_memory(run), model)
        return
    traces = torch.profiler.tensorboard_trace_handler(run.folder)
    schedule = torch.profiler.schedule(wait=10, warmup=2, active=3)
    with torch.profiler.profile(schedule=schedule, on_trace_ready=traces, record_shapes=True, with_stack=True) as profile:
        fit(run, in_memory(run), model, after_step=profile.step)
