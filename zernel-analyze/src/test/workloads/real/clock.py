# SPDX-License-Identifier: Apache-2.0
"""How a job runs, and the clock that it keeps."""

import ctypes
import os
import time
from dataclasses import dataclass, field

WARM_UP = 5

# Parameters of mallopt in glibc.
M_TRIM_THRESHOLD = -1
M_MMAP_MAX = -4


def keep_memory():
    """Lets malloc keep what is freed: else it goes back to the kernel in each step and is faulted in again."""
    libc = ctypes.CDLL(None)
    libc.mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)
    libc.mallopt(M_MMAP_MAX, 0)


@dataclass
class Run:
    """How a job runs: with its cause, without it, or with the advice that a finding gives; `clock` has the ends of steps.

    `advised_workers` are those that the advice names, 0 where it names none.
    """

    steps: int
    folder: str
    without: bool = False
    advice: bool = False
    advised_workers: int = 0
    keeps_memory: bool = True
    pids: list = field(default_factory=lambda: [os.getpid()])
    clock: list = field(default_factory=list)
    more: dict = field(default_factory=dict)

    @property
    def planted(self):
        return not self.without

    def workers(self, usual):
        """Those of a DataLoader: as many as the advice names."""
        return self.advised_workers if self.advice else usual

    def tick(self):
        self.clock.append(time.perf_counter())

    def truth(self):
        """Times in milliseconds; the first steps are not in them."""
        ends = self.clock[WARM_UP:]
        steps = [1000 * (end - begin) for begin, end in zip(ends, ends[1:])]
        steps_sorted = sorted(steps)
        return {
            "pids": self.pids,
            "steps": len(self.clock),
            "mean_ms": sum(steps) / len(steps),
            "p50_ms": steps_sorted[len(steps) // 2],
            "min_ms": steps_sorted[0],
            **({"num_workers": self.advised_workers} if self.advised_workers else {}),
            "step_ms": [round(step, 4) for step in steps],
            **self.more,
        }
