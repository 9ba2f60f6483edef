# SPDX-License-Identifier: Apache-2.0
"""How long the same training step takes after a sleep: a CPU that has rested runs the same work slower.

    python3 rested.py

Prints, for each sleep before it, the wall time of a step and of a loop of arithmetic, which needs next to no caches, in
milliseconds, means of 200.
"""

import time

import torch

from training import BATCH, network, sgd

STEPS = 200
WARM_UP = 20


def measure(sleep, work):
    wall = 0
    for step in range(STEPS + WARM_UP):
        if sleep:
            time.sleep(sleep)
        begin = time.perf_counter()
        work()
        if step >= WARM_UP:
            wall += time.perf_counter() - begin
    return 1000 * wall / STEPS


def training():
    model = network()
    optimizer = sgd(model)
    inputs, labels = torch.rand(BATCH, 3, 32, 32), torch.randint(10, (BATCH,))

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()

    return step


def arithmetic():
    value = 1
    for number in range(60_000):
        value = (value * 31 + number) & 0xFFFF


def main():
    torch.set_num_threads(1)
    step = training()
    for sleep in (0, 0.001, 0.004, 0.012, 0.03, 0):
        print(f"after a sleep of {1000 * sleep:2.0f} ms: a step {measure(sleep, step):5.2f} ms, "
              f"arithmetic {measure(sleep, arithmetic):5.2f} ms")


if __name__ == "__main__":
    main()
