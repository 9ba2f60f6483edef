# SPDX-License-Identifier: Apache-2.0
"""Runs a job on an NVIDIA GPU with one cause that makes it slow, or without it.

    python3 gpu.py --list
    python3 gpu.py NAME [--without] [--steps N] [--truth FILE]

A small GPT trains in bf16, keeps its own clock, and knows nothing of a recorder. What it measured is written as JSON: pid, steps, and
in milliseconds mean_ms and p50_ms of the steps after the first ten, the time until the GPU is done included. The true cost of a
cause is the mean step less that of the same job `--without` it; two runs of one job differ by some percent.
"""

import argparse
import json
import os
import time

import torch
import torch.nn.functional as F
from torch import nn

BATCH, TOKENS, WORDS, WIDTH, LAYERS = 12, 512, 16000, 768, 12
WARM_UP = 10


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, c // 64, 64).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(TOKENS, WIDTH)
        self.blocks, self.norm = nn.Sequential(*[Block() for _ in range(LAYERS)]), nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, tokens):
        places = self.places(torch.arange(tokens.shape[1], device=tokens.device))
        return self.head(self.norm(self.blocks(self.words(tokens) + places)))


def burn(milliseconds):
    """Pure Python that keeps the interpreter busy."""
    end = time.perf_counter() + milliseconds / 1e3
    n = 0
    while time.perf_counter() < end:
        n += 1
    return n


class Job:
    """One training; a cause overrides what it does otherwise."""

    autocast = True

    def __init__(self, planted):
        self.planted = planted
        torch.manual_seed(0)
        self.model = Gpt().cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)

    def batch(self):
        return torch.randint(0, WORDS, (BATCH, TOKENS + 1), pin_memory=True).cuda(non_blocking=True)

    def loss(self, out, tokens):
        return F.cross_entropy(out.flatten(0, 1), tokens[:, 1:].flatten())

    def step(self, i):
        tokens = self.batch()
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.autocast):
            loss = self.loss(self.model(tokens[:, :-1]), tokens)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss


class Float32(Job):
    """Matrices in float32, which tensor cores do not multiply."""

    def __init__(self, planted):
        super().__init__(planted)
        self.autocast = not planted


class Masked(Job):
    """The loss picks tokens by a mask, and a metric by another, ten times: each asks the GPU how many there are."""

    def loss(self, out, tokens):
        if self.planted:
            kept = tokens[:, 1:] > 10
            found = [out[tokens[:, 1:] % 16 == i].float().mean() for i in range(10)]
            return F.cross_entropy(out[kept], tokens[:, 1:][kept]) + 0 * sum(found)
        rows = out.flatten(0, 1)
        return super().loss(out, tokens) + 0 * sum(rows[i::16].float().mean() for i in range(10))


class ToHost(Job):
    """The outputs of each step go to the host, into new memory."""

    def loss(self, out, tokens):
        if self.planted:
            self.kept = out.detach().cpu()
        return super().loss(out, tokens)


class Blocking(Job):
    """302 MB a step from pinned memory, waited for."""

    def __init__(self, planted):
        super().__init__(planted)
        self.images = torch.rand(96, 3, 512, 512).pin_memory()

    def batch(self):
        self.image = self.images.to("cuda", non_blocking=not self.planted).mean()
        return super().batch()


class Host(Job):
    """The training thread makes each batch itself, in Python."""

    def batch(self):
        if self.planted:
            burn(15)
        return super().batch()


class Asleep(Job):
    """Sleeps in each step, as a limiter of a rate does."""

    def batch(self):
        if self.planted:
            time.sleep(0.015)
        return super().batch()


CAUSES = {
    "float32": Float32,
    "masked": Masked,
    "to-host": ToHost,
    "blocking": Blocking,
    "host": Host,
    "asleep": Asleep,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=CAUSES)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--without", action="store_true")
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--truth")
    options = parser.parse_args()
    if options.list or not options.name:
        for name, cause in CAUSES.items():
            print(f"{name:12} {cause.__doc__}")
        return
    job = CAUSES[options.name](not options.without)
    starts = []
    for i in range(options.steps):
        starts.append(time.clock_gettime_ns(time.CLOCK_MONOTONIC))
        job.step(i)
    torch.cuda.synchronize()
    starts.append(time.clock_gettime_ns(time.CLOCK_MONOTONIC))
    counted = [(after - before) / 1e6 for before, after in zip(starts[WARM_UP:], starts[WARM_UP + 1 :])]
    truth = {
        "name": options.name,
        "planted": not options.without,
        "pid": os.getpid(),
        "steps": options.steps,
        "mean_ms": sum(counted) / len(counted),
        "p50_ms": sorted(counted)[len(counted) // 2],
    }
    if options.truth:
        with open(options.truth, "w") as file:
            json.dump(dict(truth, starts_ns=starts), file)
    print(json.dumps(truth), flush=True)


if __name__ == "__main__":
    main()
