# SPDX-License-Identifier: Apache-2.0
"""Two ranks that train together over gloo."""

import json
import os
import random
import time
from dataclasses import replace

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Subset, TensorDataset

from clock import keep_memory
from training import BATCH, Blur, fit, in_memory, network, pictures, sgd


def ddp_late_compute(run):
    """Rank 1 computes a loss of its own in Python before it goes on."""
    together(run, late_compute)


def late_compute(run, rank):
    def monitor():
        if run.planted and rank == 1:
            words = {}
            for number in range(70_000):
                words[number % 97] = words.get(number % 97, 0) + number * number % 7

    fit(run, in_memory(run), parallel(network(16)), after_step=monitor)


def ddp_late_sleep(run):
    """Rank 1 waits 15 ms in each forward pass, as for a lock or a license."""
    together(run, late_sleep)


def late_sleep(run, rank):
    class Waits(nn.Module):
        def forward(self, inputs):
            if run.planted and rank == 1:
                time.sleep(0.015)
            return inputs

    fit(run, in_memory(run), parallel(nn.Sequential(Waits(), *network(16))))


def ddp_late_data(run):
    """Rank 1 has the samples that are expensive to transform."""
    together(run, late_data)


def late_data(run, rank):
    slow = Blur(30) if run.planted and rank == 1 else None
    fit(run, pictures(run, slow), parallel(network(16)))


def ddp_ragged(run):
    """Ranks draw batches of unequal length, each for itself; without the cause all draw the same lengths."""
    together(run, ragged)


def ragged(run, rank):
    lengths = random.Random(rank if run.planted else 7)
    fit(run, (one for _ in range(run.steps) for one in in_memory(replace(run, steps=1), lengths.choice([8, 32, 128]))),
        parallel(network(16)))


def ddp_evaluation(run):
    """Every 30 steps rank 0 evaluates all held-out batches while rank 1 waits; without the cause each has a half of them."""
    together(run, evaluated)


def evaluated(run, rank):
    model = parallel(network(16))
    held_out = TensorDataset(torch.rand(60 * BATCH, 3, 32, 32), torch.arange(60 * BATCH) % 10)
    mine = held_out if run.planted else Subset(held_out, range(rank, 60 * BATCH, 2))
    steps = iter(range(1, run.steps + 1))

    def evaluate():
        if next(steps) % 30 == 0:
            right = torch.zeros(1)
            if rank == 0 or not run.planted:
                model.eval()
                with torch.no_grad():
                    for inputs, labels in DataLoader(mine, BATCH):
                        right += (model.module(inputs).argmax(1) == labels).sum()  # planted: evaluated
                model.train()
            dist.all_reduce(right)

    shown = TensorDataset(torch.rand(run.steps * BATCH, 3, 32, 32), torch.arange(run.steps * BATCH) % 10)
    fit(run, DataLoader(shown, BATCH), model, after_step=evaluate)


def ddp_large(run):
    """Gradients of a large embedding are reduced in each step, although few of them are used."""
    together(run, large)


def large(run, rank):
    class Wide(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = network(16)
            self.table = nn.Parameter(torch.zeros(3 << 20 if run.planted else 16))

        def forward(self, inputs):
            return self.inner(inputs) + self.table.sum()

    model = parallel(Wide())
    fit(run, in_memory(run), model, torch.optim.SGD(model.module.inner.parameters(), lr=0.01))


def ddp_healthy(run):
    """Both ranks have as much to do, and little to send."""
    together(run, healthy)


def healthy(run, rank):
    fit(run, in_memory(run, 8 * BATCH), parallel(network(16)))


def parallel(model):
    return DistributedDataParallel(model)


def together(run, train):
    """Starts the ranks as torch.multiprocessing does, and takes the clock of rank 0."""
    torch.multiprocessing.spawn(begin, (run, train), nprocs=2)
    ranks = []
    for rank in range(2):
        with open(os.path.join(run.folder, f"rank{rank}.json")) as file:
            ranks.append(json.load(file))
    run.pids[:] = [one["pid"] for one in ranks]
    run.clock[:] = ranks[0]["clock"]


def begin(rank, run, train):
    torch.set_num_threads(1)
    if run.keeps_memory:
        keep_memory()
    mine = replace(run, clock=[], more={})
    dist.init_process_group("gloo", init_method=f"file://{run.folder}/store", rank=rank, world_size=2)
    train(mine, rank)
    dist.barrier()
    with open(os.path.join(run.folder, f"rank{rank}.json"), "w") as file:
        json.dump({"pid": os.getpid(), "clock": mine.clock}, file)
    dist.destroy_process_group()
