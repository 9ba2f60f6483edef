# SPDX-License-Identifier: Apache-2.0
"""A small PyTorch training on the CPU that counts its operators with torch.profiler.

    python3 operators.py [--steps 5] [--threads 1]

Prints `ready`, waits for a line on its input, trains, and prints one line of JSON with the number of calls of each
operator between two moments, as the profiler counts them.
"""

import argparse
import json
import os
import sys
import threading
import time
from collections import Counter

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.images = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(8 * 8 * 8, 32),
        )
        self.words = nn.Embedding(50, 32)
        self.encoder = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        self.memory = nn.LSTM(32, 32, batch_first=True)
        self.head = nn.Linear(32, 10)

    def forward(self, images, words):
        sequence = torch.cat([self.images(images).unsqueeze(1), self.words(words)], dim=1)
        encoded, _ = self.memory(self.encoder(sequence))
        return self.head(encoded[:, -1])


def make():
    torch.manual_seed(1)
    model = Model()
    return model, torch.optim.AdamW(model.parameters(), 1e-3), nn.CrossEntropyLoss()


def train(model, optimizer, loss_of, steps):
    for step in range(steps):
        images = torch.randn(4, 3, 16, 16)
        words = torch.randint(50, (4, 6))
        optimizer.zero_grad()
        loss = loss_of(model(images, words), torch.randint(10, (4,)))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        spread = torch.fft.rfft(torch.linspace(0, 1, 64)).abs().topk(3).values
        solved = torch.linalg.solve(torch.eye(4) * 2, torch.ones(4, 1)).scatter_reduce(
            0, torch.zeros(2, 1, dtype=torch.long), torch.ones(2, 1), "sum"
        )
        loss.item(), spread.sum().item(), solved[0].item(), torch.where(images > 0)[0].numel()


def main(options):
    torch.set_num_threads(1)
    jobs = [make() for _ in range(options.threads)]
    for job in jobs:
        train(*job, 1)
    print("ready", flush=True)
    sys.stdin.readline()
    more = {}
    if options.threads > 1:
        more["experimental_config"] = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    with profile(activities=[ProfilerActivity.CPU], **more) as profiler:
        time.sleep(0.05)
        began_ns = time.time_ns()
        threads = [threading.Thread(target=train, args=(*job, options.steps)) for job in jobs[1:]]
        for thread in threads:
            thread.start()
        train(*jobs[0], options.steps)
        for thread in threads:
            thread.join()
        ended_ns = time.time_ns()
        time.sleep(0.05)
    # What the profiler recorded. Its tables leave out a call that is the only one its caller of the same name makes.
    counts = Counter(event.name() for event in profiler.profiler.kineto_results.events())
    counts = {name: count for name, count in counts.items() if name.startswith("aten::")}
    table = {row.key: row.count for row in profiler.key_averages() if row.key.startswith("aten::")}
    print(json.dumps(
        {"pid": os.getpid(), "began_ns": began_ns, "ended_ns": ended_ns, "counts": counts, "table": table}
    ))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    main(parser.parse_args())
