# SPDX-License-Identifier: Apache-2.0
"""Two ranks that train with DistributedDataParallel over gloo on the CPU; no part of it knows that it may be recorded.

    python3 ddp.py [--steps 20] [--late-ms 60]

Prints `ready` when both ranks have met, waits for a line on its input, trains, and prints one line of JSON per rank with
what that rank counted itself. In every step, rank 1 comes later to one collective than rank 0 does.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time


def lead(options):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = []
    for rank in range(2):
        environment = dict(
            os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE="2",
            RANK=str(rank), LOCAL_RANK=str(rank),
        )
        ranks.append(subprocess.Popen(
            [sys.executable, __file__, *sys.argv[1:]], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ))
    for rank in ranks:
        assert rank.stdout.readline() == "ready\n"
    print("ready", flush=True)
    line = sys.stdin.readline()
    for rank in ranks:
        rank.stdin.write(line)
        rank.stdin.flush()
    for rank in ranks:
        print(rank.stdout.readline(), end="", flush=True)
    return sum(rank.wait() for rank in ranks)


def train(options):
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    total = torch.ones(4)
    work_waits = 0
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(options.steps):
        optimizer.zero_grad()
        model(torch.randn(8, 64)).sum().backward()
        optimizer.step()
        if rank == 1:
            time.sleep(options.late_ms / 1000)
        dist.all_reduce(total)
        work = dist.all_reduce(total, async_op=True)
        work.wait()
        work_waits += 2
    dist.barrier()
    work_waits += 1
    for _ in range(3):
        if rank == 0:
            dist.send(total, 1)
        else:
            dist.recv(total, 0)
    print(json.dumps({"rank": rank, "pid": os.getpid(), "work_waits": work_waits}), flush=True)
    dist.destroy_process_group()
    # Recorded or not, one in ten or so aborts while the interpreter ends: a thread of gloo's still runs.
    os._exit(0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--late-ms", type=float, default=60)
    if "RANK" in os.environ:
        train(parser.parse_args())
    else:
        sys.exit(lead(parser.parse_args()))
