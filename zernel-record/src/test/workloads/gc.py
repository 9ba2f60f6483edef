# SPDX-License-Identifier: Apache-2.0
"""Collections of Python's garbage collector, some asked for and some not, over a heap that makes them take a while.

Prints `ready`, waits for a line on its input, collects, and prints one line of JSON with what `gc.callbacks` were told.
"""

import gc
import json
import os
import sys
import time

ASKED = 5
collections = []


class Node:
    def __init__(self):
        self.myself = self


def told(phase, info):
    now = time.monotonic_ns()
    if phase == "start":
        collections.append([info["generation"], now])
    else:
        collections[-1] += [now, info["collected"]]


def main():
    heap = [[number] for number in range(300_000)]
    gc.collect()
    print("ready", flush=True)
    sys.stdin.readline()
    gc.callbacks.append(told)
    for _ in range(ASKED):
        garbage = [Node() for _ in range(10)]
        del garbage
        gc.collect()
    asked = len(collections)
    young = [[number] for number in range(400_000)]
    gc.callbacks.clear()
    print(json.dumps({"pid": os.getpid(), "asked": ASKED, "while_asking": asked, "collections": collections}))
    return heap, young


kept = main()
