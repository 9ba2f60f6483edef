# SPDX-License-Identifier: Apache-2.0
"""Computes in calls of many kinds until a line comes, and then says what CPU time each took, as shares that add up to 1; with a
number as argument, that deep in calls, until it is killed."""
import json
import select
import sys
import time


def spin(times):
    x = 0
    for number in range(times):
        x += number * number
    return x


def one():
    return spin(2000)


def two():
    return spin(4000)


def generated():
    return sum(number * number for number in range(4000))


class Net:
    def __call__(self):
        return self.forward()

    def forward(self):
        return [two() for _ in range(2)]


def ordered():
    return sorted(range(40), key=lambda number: spin(100))


def rounds():
    times = {"one": 0.0, "generated": 0.0, "__call__": 0.0, "ordered": 0.0}
    told = len(sys.argv) == 1
    while not (told and select.select([sys.stdin], [], [], 0)[0]):
        for name, function in zip(times, (one, generated, Net(), ordered)):
            begin = time.thread_time()
            function()
            times[name] += time.thread_time() - begin
    print(json.dumps({name: spent / sum(times.values()) for name, spent in times.items()}))


def deep(depth):
    if depth:
        return deep(depth - 1)
    return rounds()


sys.setrecursionlimit(2000)
print("ready", flush=True)
deep(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
