# SPDX-License-Identifier: Apache-2.0
"""Measures what PyTorch's profiler takes for a call of Python and for an operator: python3 profiler_cost.py

Printed are nanoseconds a call: of a function of Python, of a built-in one, and of `relu_` of four numbers, without the
profiler, with it, and with it and stacks.
"""

import time

import torch
from torch.profiler import ProfilerActivity, profile

CALLS = 200_000


def function():
    return 1


def nanoseconds(call, calls):
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls * 1e9


def measured():
    tensor = torch.randn(4)
    words = "a b c"
    return (
        nanoseconds(function, CALLS),
        nanoseconds(words.split, CALLS),
        nanoseconds(tensor.relu_, CALLS // 4),
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(f"{'':24}{'function':>12}{'built in':>12}{'operator':>12}")
    print("without the profiler    " + "".join(f"{ns:12.0f}" for ns in measured()))
    for stacks in (False, True):
        with profile(activities=[ProfilerActivity.CPU], with_stack=stacks):
            taken = measured()
        print(("with it and stacks      " if stacks else "with it                 ") + "".join(f"{ns:12.0f}" for ns in taken))
