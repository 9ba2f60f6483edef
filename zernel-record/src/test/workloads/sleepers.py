# SPDX-License-Identifier: Apache-2.0
"""Threads that sleep 0.3 s at a time, at different depths and in different kinds of functions, until a line is read."""
import sys
import threading
import time


class Net:
    def forward(self, depth):
        def inner():
            time.sleep(0.3)
        return inner() if depth == 0 else self.forward(depth - 1)


def numbers():
    while True:
        time.sleep(0.3)
        yield 1


def generates():
    for number in numbers():
        assert number == 1


def calls_back():
    while True:
        sorted([1, 2], key=lambda number: time.sleep(0.3) or number)


def recurses(depth):
    while True:
        Net().forward(depth)


for function, arguments in ((recurses, (0,)), (recurses, (7,)), (recurses, (60,)), (generates, ()), (calls_back, ())):
    threading.Thread(target=function, args=arguments, daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()
