# SPDX-License-Identifier: Apache-2.0
"""A training loop without any package whose functions C calls, because they are partials.

`partials.py STEPS`: prints what waiting for data took by its own clock.
"""

import functools
import json
import os
import sys
import time

waited = 0


@functools.partial
def next_batch():
    global waited
    began = time.monotonic_ns()
    time.sleep(0.012)
    waited += time.monotonic_ns() - began
    return range(1000)


@functools.partial
def train_step():
    return sum(next_batch())


for _ in range(int(sys.argv[1])):
    train_step()
print(json.dumps({"pid": os.getpid(), "data_wait": waited}), flush=True)
