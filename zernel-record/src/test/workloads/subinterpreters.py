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


end, begin = os.pipe()


def inside():
    interpreters.run_string(interpreters.create(), f"import os, time\nos.write({begin}, b'x')\ntime.sleep(10 ** 6)\n")


def beside():
    interpreters.create()
    os.write(begin, b"x")
    time.sleep(10 ** 6)


for function in (inside, beside):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    os.read(end, 1)
    print(thread.ident)
time.sleep(0.5)
print("ready", flush=True)
sys.stdin.readline()
os._exit(0)
