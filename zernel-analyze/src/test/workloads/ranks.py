# SPDX-License-Identifier: Apache-2.0
"""Two ranks of DistributedDataParallel over gloo, on the CPU, one of which may be late.

    python3 ranks.py CAUSE [STEPS]          starts both ranks
    RANK=0 python3 ranks.py CAUSE [STEPS]   is one of them; MASTER_PORT is the same for both

sleeps    rank 1 is asleep for 15 ms in each forward pass
data      rank 1 computes each of its batches in the training thread, 15 ms of CPU time
computes  rank 1 multiplies matrices for 15 ms more in each forward pass
healthy   nothing
large     both ranks send 33 million gradients in each step

Rank 0 prints the mean and the median step, in milliseconds, as one line of JSON, all but the first ten steps.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import time

LATE_S = 0.015


def start():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    ranks = [
        subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, **place, "RANK": str(rank), "LOCAL_RANK": str(rank)})
        for rank in range(2)
    ]
    return max(abs(rank.wait()) for rank in ranks)


def train(cause, steps):
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.utils.data import DataLoader, Dataset

    rank = int(os.environ["RANK"])
    late = rank == 1
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo")

    def spend(seconds):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    class Samples(Dataset):
        def __len__(self):
            return 16 * steps

        def __getitem__(self, index):
            if late and cause == "data":
                spend(LATE_S / 16)
            return torch.full((256,), index / 1000), index % 10

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            hidden = 4096 if cause == "large" else 512
            self.layers = nn.Sequential(
                nn.Linear(256, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 10)
            )
            self.square = torch.randn(256, 256)

        def forward(self, x):
            if late and cause == "sleeps":
                time.sleep(LATE_S)
            if late and cause == "computes":
                end = time.thread_time() + LATE_S
                while time.thread_time() < end:
                    self.square @ self.square
            return self.layers(x)

    model = nn.parallel.DistributedDataParallel(Model())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = nn.CrossEntropyLoss()
    took = []
    began = time.perf_counter()
    for x, y in DataLoader(Samples(), batch_size=16):
        optimizer.zero_grad()
        loss_of(model(x), y).backward()
        optimizer.step()
        ended = time.perf_counter()
        took.append(1000 * (ended - began))
        began = ended
    if rank == 0:
        print(json.dumps({"steps": len(took), "mean_ms": statistics.mean(took[10:]), "median_ms": statistics.median(took[10:])}))
    dist.destroy_process_group()
    # Recorded or not, one in ten or so aborts while the interpreter ends: a thread of gloo's still runs.
    sys.stdout.flush()
    os._exit(0)


def main():
    if "RANK" not in os.environ:
        return start()
    train(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 150)
    return 0


sys.exit(main())
