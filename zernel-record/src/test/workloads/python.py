# SPDX-License-Identifier: Apache-2.0
"""Python functions that C calls, each a known number of times.

Prints `ready`, waits for a line on its input, calls, and prints one line of JSON with what it counted itself.
"""

import ctypes
import functools
import json
import os
import re
import sys
import threading
from collections import Counter

counted = Counter()


def count(name):
    counted[name] += 1


class Work:
    def key(self):
        count("Work.key")
        return Work.helper(self)

    @staticmethod
    def helper(work):
        """Called by Python only: part of the call of `key`."""
        count("python")
        return id(work)

    @classmethod
    def thread(cls):
        count("Work.thread")
        list(map(cls.double, range(100)))

    @staticmethod
    def double(number):
        count("Work.double")
        return 2 * number

    @staticmethod
    def matched(match):
        count("Work.matched")
        return match.group().upper()

    @staticmethod
    def fails(number):
        count("Work.fails")
        raise ValueError(number)

    def nested(self):
        def deeper(total, number):
            count("Work.nested.<locals>.deeper")
            return total + number

        count("Work.nested")
        return functools.reduce(deeper, range(51))


def grüßen(number):
    count("not ascii")
    return number


def unwanted(number):
    count("unwanted")
    return number


def main():
    c = ctypes.pythonapi
    c.PyObject_CallFunction.restype = ctypes.py_object
    c.PyObject_CallFunction.argtypes = [ctypes.py_object, ctypes.c_char_p]
    print("ready", flush=True)
    sys.stdin.readline()
    works = [Work() for _ in range(200)]
    sorted(works, key=Work.key)
    threads = [threading.Thread(target=Work.thread) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    re.sub("[a-e]", Work.matched, "abcdefgh" * 10)
    for number in range(3):
        try:
            list(map(Work.fails, [number]))
        except ValueError:
            pass
    list(map(Work.nested, works[:2]))
    list(map(grüßen, range(7)))
    list(map(unwanted, range(30)))
    for _ in range(25):
        c.PyObject_CallFunction(works[0].nested, None)
    print(json.dumps({"pid": os.getpid(), "counts": counted}))


main()
