# SPDX-License-Identifier: Apache-2.0
"""A training loop without PyTorch and without NumPy, which marks its regions by itself.

`regions.py STEPS`: a step waits 12 ms for its batch and computes 4 ms. Prints what each took by its own clock.
"""

import ctypes
import json
import os
import sys
import threading
import time

_begin, _end = ctypes.pythonapi.Py_IsTrue, ctypes.pythonapi.Py_IsFalse


class region:
    def __init__(self, name):
        self.name, self.key = name.encode(), ctypes.c_size_t(id(self))

    def __enter__(self):
        _begin(self.name, ctypes.byref(self.key))

    def __exit__(self, *error):
        _end(self.key)


taken = {"data_wait": 0, "compute": 0}


def timed(name, work):
    began = time.monotonic_ns()
    with region("zernel." + name):
        work()
    taken[name] += time.monotonic_ns() - began


def compute():
    end = time.monotonic() + 0.004
    while time.monotonic() < end:
        pass


def other():
    """Regions of another thread, which overlap with those of the first."""
    for _ in range(50):
        with region("other"):
            time.sleep(0.001)


def main(steps):
    thread = threading.Thread(target=other)
    thread.start()
    for _ in range(steps):
        with region("zernel.step"):
            timed("data_wait", lambda: time.sleep(0.012))
            timed("compute", compute)
    thread.join()
    print(json.dumps({"pid": os.getpid(), "steps": steps, **taken}), flush=True)


main(int(sys.argv[1]))
