# SPDX-License-Identifier: Apache-2.0
"""How long the same training step takes after a sleep: a CPU that has rested runs the same work slower.

    python3 rested.py

Prints, for each sleep before a step, its wall time and its CPU time in milliseconds, means of 200 steps.
"""

import time

import torch

from training import BATCH, network, sgd

STEPS = 200
WARM_UP = 20


def measure(sleep):
    model = network()
    optimizer = sgd(model)
    inputs, labels = torch.rand(BATCH, 3, 32, 32), torch.randint(10, (BATCH,))
    wall = cpu = 0
    for step in range(STEPS + WARM_UP):
        if sleep:
            time.sleep(sleep)
        begin, begin_cpu = time.perf_counter(), time.thread_time()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
        if step >= WARM_UP:
            wall += time.perf_counter() - begin
            cpu += time.thread_time() - begin_cpu
    return 1000 * wall / STEPS, 1000 * cpu / STEPS


def main():
    torch.set_num_threads(1)
    for sleep in (0, 0.001, 0.004, 0.012, 0.03, 0):
        wall, cpu = measure(sleep)
        print(f"after a sleep of {1000 * sleep:2.0f} ms: {wall:5.2f} ms, {cpu:5.2f} ms of CPU time")


if __name__ == "__main__":
    main()
