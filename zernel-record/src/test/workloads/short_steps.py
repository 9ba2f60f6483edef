# SPDX-License-Identifier: Apache-2.0
"""A PyTorch training on the CPU with steps of about a millisecond, on one thread.

    STEPPING=FILE python3 short_steps.py SECONDS

Prints `ready` when it has warmed up, and in the end, or at SIGTERM, writes a line for each step into the file: when it
began on CLOCK_MONOTONIC, and how long it took, in nanoseconds.
"""

import os
import signal
import sys
import time

import torch
from torch import nn

WARM_UP = 300


class Sequences(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = nn.LSTM(16, 32, batch_first=True)
        self.head = nn.Linear(32, 1)

    def forward(self, x):
        return self.head(self.recurrent(x)[0][:, -1])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    model = Sequences()
    optimizer = torch.optim.Adam(model.parameters())
    x, y = torch.randn(8, 24, 16), torch.randn(8, 1)
    began, took = [], []
    end = time.monotonic() + float(sys.argv[1])
    while not ended and time.monotonic() < end:
        start = time.monotonic_ns()
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        took.append(time.monotonic_ns() - start)
        began.append(start)
        if len(took) == WARM_UP:
            print("ready", flush=True)
    with open(os.environ["STEPPING"], "w") as file:
        file.writelines(f"{at} {length}\n" for at, length in zip(began, took))


main()
