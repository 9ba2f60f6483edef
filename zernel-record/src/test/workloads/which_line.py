# SPDX-License-Identifier: Apache-2.0
"""Threads that block at known lines. For each blocked call a line of JSON on standard output:

    {"call": "lock", "tid": 71, "start_ns": 1, "end_ns": 2, "frames": [{"function": "f", "file": "x.py", "line": 7}, ...]}

with the kernel's number of the thread, CLOCK_MONOTONIC before and after, and the frames as the interpreter itself says them while the
thread is blocked, innermost first (functions by qualified name, in 3.10 by name). A call is only told when its frames were seen, and
was blocked for 10 ms or more.

Begins when a line is read, then ends with `{"call": "done", "told": N}`; with `exec` as argument it then starts itself once more in
its place, in the same process, which begins after a second: a program's first frames are native ones, until its interpreter is found.
"""
import asyncio
import functools
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time

REPEATS = 3
DEEP = 1000
SHORTEST = 0.02

out = threading.Lock()
told = 0


def frames(frame):
    found = []
    while frame is not None:
        code = frame.f_code
        name = code.co_qualname if sys.version_info >= (3, 11) else code.co_name
        found.append({"function": name, "file": code.co_filename, "line": frame.f_lineno})
        frame = frame.f_back
    return found


class Blocked:
    """Sees what the thread does in the line behind `with`, then lets it go on."""

    def __init__(self, call, release=lambda: None):
        self.call, self.release = call, release
        self.seen = None

    def __enter__(self):
        self.caller = sys._getframe(1)
        self.expected = (self.caller.f_code, self.caller.f_lineno + 1)
        self.ident = threading.get_ident()
        self.watcher = threading.Thread(target=self.watch, daemon=True)
        self.ended = False
        self.watcher.start()
        self.start = time.monotonic_ns()

    def __exit__(self, *_):
        end = time.monotonic_ns()
        self.ended = True
        self.watcher.join()
        if self.seen and end - self.start > 10_000_000:
            tell({"call": self.call, "tid": threading.get_native_id(), "start_ns": self.start, "end_ns": end, "frames": self.seen})

    def is_there(self, frame):
        while frame is not None:
            if (frame.f_code, frame.f_lineno) == self.expected:
                return True
            frame = frame.f_back
        return False

    def watch(self):
        """Three times the same frames, each some time after the other, are those of a thread that is blocked."""
        last, same = None, 0
        while same < 3 and not self.ended:
            time.sleep(SHORTEST / 4)
            frame = sys._current_frames().get(self.ident)
            now = frames(frame) if frame is not None and self.is_there(frame) else None
            same = same + 1 if now is not None and now == last else 0
            last = now
        if same == 3 and not self.ended:
            self.seen = last
        self.release()


def tell(what):
    global told
    with out:
        told += 1
        print(json.dumps(what), flush=True)


def sleeps():
    with Blocked("sleep"):
        time.sleep(0.2)


def locks():
    lock = threading.Lock()
    lock.acquire()
    with Blocked("lock", lock.release):
        lock.acquire()


def queues():
    things = queue.Queue()
    with Blocked("queue", lambda: things.put(1)):
        things.get()


def sockets():
    here, there = socket.socketpair()
    with Blocked("socket", lambda: there.send(b"x")):
        here.recv(1)


def pipes():
    end, begin = os.pipe()
    with Blocked("pipe", lambda: os.write(begin, b"x")):
        os.read(end, 1)


def children():
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    with Blocked("child", child.stdin.close):
        child.wait()


def recursive(depth, function):
    if depth == 0:
        return function()
    return recursive(depth - 1, function)


def deep():
    recursive(DEEP, pipes)


def blocked_numbers():
    yield 1
    end, begin = os.pipe()
    with Blocked("generator", lambda: os.write(begin, b"x")):
        os.read(end, 1)
    yield 2


def delegated():
    yield from blocked_numbers()


def generators():
    return [number + 1 for number in delegated()]


async def blocks_in_coroutine():
    await asyncio.sleep(0)
    end, begin = os.pipe()
    with Blocked("coroutine", lambda: os.write(begin, b"x")):
        os.read(end, 1)


async def awaits():
    await blocks_in_coroutine()


def coroutines():
    asyncio.run(awaits())


def event_loops():
    with Blocked("event loop"):
        asyncio.run(asyncio.sleep(0.3))


def callbacks():
    def key(number):
        if number == 2:
            end, begin = os.pipe()
            with Blocked("callback", lambda: os.write(begin, b"x")):
                os.read(end, 1)
        return number
    return sorted(functools.reduce(lambda a, b: [*a, b], [3, 1, 2], []), key=key)


class Net:
    def __call__(self, x):
        return self.forward(x)

    def forward(self, x):
        end, begin = os.pipe()
        with Blocked("method", lambda: os.write(begin, b"x")):
            os.read(
                end,
                x
            )


def methods():
    Net()(1)


def strings():
    lock = threading.Lock()
    lock.acquire()
    exec("\n\ndef größe():\n    with Blocked('string', lock.release):\n        lock.acquire()\ngröße()\n",
         {"Blocked": Blocked, "lock": lock})


def repeated(function):
    for _ in range(REPEATS):
        function()


def main():
    sys.setrecursionlimit(DEEP + 500)
    threading.stack_size(64 << 20)
    threads = [threading.Thread(target=repeated, args=(function,)) for function in (
        sleeps, locks, queues, sockets, pipes, children, deep, generators, coroutines, event_loops, callbacks, methods, strings)]
    for thread in threads:
        thread.start()
    repeated(locks)
    for thread in threads:
        thread.join()
    print(json.dumps({"call": "done", "told": told}), flush=True)


if __name__ == "__main__":
    if "again" in sys.argv:
        time.sleep(1)
    else:
        print("ready", flush=True)
        sys.stdin.readline()
    main()
    if "exec" in sys.argv:
        os.execv(sys.executable, [sys.executable, __file__, "again"])
