# SPDX-License-Identifier: Apache-2.0
"""A small PyTorch training on the CPU, as anybody writes it; no part of it knows that it may be recorded.

    python3 train.py [--steps 60] [--epochs 1] [--workers 2] [--transform-ms 10] [--batch 4]

Prints a line per ten steps, and at the end one line of JSON with what it counted and timed itself.
"""

import argparse
import json
import os
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    """Random images; making one takes a fixed time."""

    def __init__(self, size, transform_ms):
        self.size = size
        self.transform_s = transform_ms / 1000

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        end = time.perf_counter() + self.transform_s
        image = torch.full((3, 16, 16), index / self.size)
        while time.perf_counter() < end:
            time.sleep(0.001)
        return image, index % 10


class Stopwatch:
    """Times `next` of a loader's iterator, and inside it the making of the batch: the loader's own region lies between."""

    def __init__(self, batches):
        self.batches = batches
        self.make = batches._next_data
        batches._next_data = self.timed_make
        self.outside_s = self.inside_s = 0.0

    def timed_make(self):
        began = time.perf_counter()
        try:
            return self.make()
        finally:
            self.inside_s = time.perf_counter() - began

    def next(self):
        began = time.perf_counter()
        try:
            return next(self.batches)
        finally:
            self.outside_s = time.perf_counter() - began


def train(options):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 16 * 16, 10)
    )
    optimizer = torch.optim.AdamW(model.parameters())
    loss_of = nn.CrossEntropyLoss()
    loader = DataLoader(
        Noise(options.steps * options.batch, options.transform_ms),
        batch_size=options.batch,
        num_workers=options.workers,
        shuffle=True,
    )
    epochs = []
    steps_ns = []
    for _ in range(options.epochs):
        batches = Stopwatch(iter(loader))
        waits = []
        while True:
            try:
                images, labels = batches.next()
            except StopIteration:
                break
            finally:
                waits.append({"outside_s": batches.outside_s, "inside_s": batches.inside_s})
            optimizer.zero_grad()
            loss = loss_of(model(images), labels)
            loss.backward()
            step_ns = time.time_ns()
            optimizer.step()
            steps_ns.append(step_ns)
            if len(steps_ns) % 10 == 0:
                print(f"step {len(steps_ns)} loss {loss.item():.3f}", flush=True)
        epochs.append(waits)
    return {"pid": os.getpid(), "steps_ns": steps_ns, "epochs": epochs}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60, help="per epoch")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--transform-ms", type=float, default=10)
    parser.add_argument("--batch", type=int, default=4)
    print(json.dumps(train(parser.parse_args())))
