# SPDX-License-Identifier: Apache-2.0
"""Two threads that wait, one with an interpreter of its own that does nothing, one inside of such an interpreter.

Prints their numbers (`pthread_self`), then `ready`.
"""
import os
import sys
import threading
import time

if sys.version_info >= (3, 13):
    import _interpreters as interpreters
else:
    import _xxsubinterpreters as interpreters


def inside():
    interpreters.run_string(interpreters.create(), "import time\nwaits = 1\ntime.sleep(10 ** 6)\n")


def beside():
    interpreters.create()
    time.sleep(10 ** 6)


threads = [threading.Thread(target=function, daemon=True) for function in (inside, beside)]
for thread in threads:
    thread.start()
    time.sleep(0.5)
for thread in threads:
    print(thread.ident)
print("ready", flush=True)
sys.stdin.readline()
os._exit(0)
