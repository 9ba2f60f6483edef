# SPDX-License-Identifier: Apache-2.0
"""Threads that wait in all kinds of frames, and what the interpreter itself says of these.

A line for each thread that waits: its number (`pthread_self`), then its frames, innermost first, as FUNCTION:LINE:FILE in UTF-8
hexadecimal digits. Functions whose names end with `_by_c` are called by C, those with `_by_python` by Python. Ends with `ready`.
"""
import asyncio
import contextlib
import ctypes
import functools
import os
import queue
import re
import socket
import sys
import threading
import time

lock = threading.Lock()
lock.acquire()
pair = socket.socketpair()
pipe = os.pipe()
LONG = 10 ** 6


def nested():
    def inner_by_python():
        time.sleep(LONG)
    inner_by_python()


def recursive(depth=150):
    if depth:
        return recursive(depth - 1)
    lock.acquire()


def numbers():
    yield 1
    yield queue.Queue().get()


def delegated():
    yield from numbers()


def generators():
    for _ in delegated():
        pass


async def deep():
    time.sleep(LONG)


async def awaits():
    await asyncio.sleep(0)
    await deep()


def coroutines():
    asyncio.run(awaits())


def key_by_c(x):
    pair[0].recv(1)


def sorts():
    sorted([3, 1, 2], key=key_by_c)


def fold_by_c(a, b):
    os.read(pipe[0], 1)


def reduces():
    functools.reduce(fold_by_c, [1, 2, 3])


def comprehensions():
    return {k: [lock.acquire() for _ in "ab"] for k in "cd"}


class Thing:
    def __init__(self):
        self.of_c_by_c

    @property
    def of_c_by_c(self):
        class Body:
            time.sleep(LONG)


def objects():
    list(map(lambda _: Thing(), "a"))


@contextlib.contextmanager
def held():
    yield re.sub("a", lambda match: lock.acquire() and "b", "a")


def managers():
    with held():
        pass


@functools.lru_cache
def decorated_by_c():
    exec("def größe():\n\n    time.sleep(10 ** 6)\n\n\ngröße()", {"time": time})


CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
NUMBERS = (ctypes.c_int * 2)(2, 1)


@CALLBACK
def compare_by_c(a, b):
    time.sleep(LONG)
    return 0


def foreign():
    ctypes.CDLL(None).qsort(NUMBERS, 2, 4, compare_by_c)


def traced_by_python():
    for _ in range(3):
        pass
    time.sleep(
        LONG
    )


def profiled():
    sys.setprofile(lambda *_: None)
    sys.settrace(lambda *_: lambda *_: None)
    traced_by_python()


def warm_by_python(last):
    x = [i * 2 for i in range(3)]
    if last:
        lock.acquire()
    return x


def specialised():
    for i in range(5000):
        warm_by_python(i == 4999)


def far():
    time.sleep(LONG)


# A line far behind the function's first.
exec(compile("def far(x):\n    return max(\n" + "\n" * 700 + "        1,\n" + "\n" * 300 + "    time.sleep(10 ** 6))\n", "far.py", "exec"))


def distant():
    far(1)


WAITING = [nested, recursive, generators, coroutines, sorts, reduces, comprehensions, objects, managers, decorated_by_c, foreign,
           profiled, specialised, distant]


def frames(frame):
    while frame is not None:
        code = frame.f_code
        name = code.co_qualname if sys.version_info >= (3, 11) else code.co_name
        yield f"{name}:{frame.f_lineno}:{code.co_filename}".encode().hex()
        frame = frame.f_back


def seen():
    own = threading.get_ident()
    return {ident: list(frames(frame)) for ident, frame in sys._current_frames().items() if ident != own}


def tell():
    before, same = seen(), 0
    while same < 5 or len(before) <= len(WAITING):
        time.sleep(0.05)
        now = seen()
        same = same + 1 if now == before else 0
        before = now
    for ident, stack in before.items():
        print(ident, *stack)
    print("ready", flush=True)
    lock.acquire()


for function in WAITING:
    threading.Thread(target=function, daemon=True).start()
threading.Thread(target=tell, daemon=True).start()
sys.stdin.readline()
os._exit(0)
