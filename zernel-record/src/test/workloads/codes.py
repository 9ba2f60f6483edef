# SPDX-License-Identifier: Apache-2.0
"""Tells of many code objects what the interpreter itself says: address, file, function, first line, line of each byte.

A line for each: ADDRESS FILE FUNCTION FIRST TABLE LINES, names as UTF-32 in hexadecimal digits, TABLE the size of the line table,
LINES as START:END:LINE, where LINE may be `-`. Ends with `ready` and waits for a line.
"""
import os
import random
import sys
import types

kept = []


class Name(str):
    """A text that is not an exact `str`."""


def hexed(text):
    return text.encode("utf-32-le", "surrogatepass").hex() or "-"


def function_name(code):
    return code.co_qualname if sys.version_info >= (3, 11) else code.co_name


def tell(code):
    kept.append(code)
    table = len(code.co_linetable)
    lines = ["-"] if table > 256 << 10 else [
        f"{start}:{end}:{'-' if line is None else line}" for start, end, line in code.co_lines()]
    print(id(code), hexed(code.co_filename), hexed(function_name(code)), code.co_firstlineno, table, ",".join(lines) or "-")


def tell_all(code):
    tell(code)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            tell_all(constant)


def compiled(source, file="<string>"):
    tell_all(compile(source, file, "exec"))


SHAPES = """
import contextlib
class Net:
    def forward(self, x):
        def inner():
            return [y for y in x if y]
        return inner()
    @staticmethod
    @contextlib.contextmanager
    def held(): 
        with open("x") as a, open("y") as b:
            try:
                yield a
            except (ValueError, OSError) as e:
                raise KeyError from e
            finally:
                b.close()
async def gathered(things):
    async with things as t:
        async for x in t:
            await x
        return {k: v async for k, v in t}
def generated():
    x = yield 1
    yield from (a * b for a in x for b in a)
first = lambda a, *, b=1: (
    a +
    b)
def matched(x):
    while True:
        if x: continue
        else: break
    for i in x: pass
    else: return 1
    assert x, "no"
    del x
"""

GAP = "\n" * 300


def shapes():
    compiled(SHAPES)
    compiled(SHAPES, "")
    compiled(f"def forward():\n  a = 1{GAP}  b = 2{GAP}  return a\n", "forwards.py")
    compiled(f"def back():\n  return f({GAP}  g({GAP}  h(1),{GAP}  2))\n", "backwards.py")
    compiled("\n" * 70_000 + "def late():\n  return 1\n", "late.py")
    compiled("def long():\n" + "  x = 1\n" * 12_000, "long.py")
    compiled("def huge():\n" + "  x = a + b\n" * 50_000, "huge.py")


def names():
    code = compile("def f():\n  return 1\n", "plain.py", "exec").co_consts[0]
    for name in ("", "é", "名前", "\U0001f600 x", "a" * 511, "é" * 512, "名" * 513, "\U0001f600" * 2000, "a\nb;c", "\udc80.py"):
        changed = code.replace(co_filename=name, co_name=name)
        tell(changed.replace(co_qualname=name) if sys.version_info >= (3, 11) else changed)
    for file in (Name("ascii.py"), Name("größe.py"), Name("日本.py"), Name("\U0001f600.py")):
        compiled("x = 1", file)
    compiled("def größe():\n  class 名前:\n    def ñ(self): pass\n", "größe.py")
    compiled("def f(): pass", "日本.py")


def delta_table(size, random):
    """PEP 626: how many bytes, how many lines."""
    table, line = bytearray(), 1000
    while size > 0:
        step = min(size, random.choice((0, 2, 4, 254)))
        delta = random.choice((-128, 0, 1, -1, 127, -127, random.randint(-127, 127)))
        if delta != -128 and line + delta < 1:
            delta = 0
        line += 0 if delta == -128 else delta
        table += bytes((step, delta & 255))
        size -= step
    return bytes(table)


def number(value):
    written = bytearray()
    while value > 63:
        written.append(value & 63 | 64)
        value >>= 6
    written.append(value)
    return bytes(written)


def signed(value):
    return number(-value << 1 | 1 if value < 0 else value << 1)


def location_table(size, random):
    """Objects/locations.md: one to eight code units an entry."""
    table, line, units = bytearray(), 1000, size // 2
    while units > 0:
        length = min(units, random.randint(1, 8))
        kind = random.randint(0, 15)
        table.append(0x80 | kind << 3 | length - 1)
        delta = random.choice((0, 1, -1, 127, -128, 5000, -5000, 10 ** 6, random.randint(-999, 999)))
        if line + delta < 1:
            delta = 1
        if kind == 14:
            table += signed(delta) + number(3) + number(70) + number(200)
        elif kind == 13:
            table += signed(delta)
        elif kind >= 10 and kind != 15:
            table += bytes((random.randint(0, 127), random.randint(0, 127)))
            delta = kind - 10
        elif kind < 10:
            table.append(random.randint(0, 127))
        if kind > 9 and kind != 15:
            line += delta
        units -= length
    return bytes(table)


def random_tables():
    made = random.Random(24)
    source = compile("x = y\n" * 200, "random.py", "exec")
    for _ in range(300):
        make = location_table if sys.version_info >= (3, 11) else delta_table
        tell(source.replace(co_linetable=make(len(source.co_code), made), co_firstlineno=1000))


def library():
    folder = os.path.dirname(os.__file__)
    for name in ("argparse", "ast", "contextlib", "dataclasses", "enum", "inspect", "queue", "threading", "typing", "tarfile"):
        path = os.path.join(folder, name + ".py")
        with open(path, encoding="utf-8") as file:
            compiled(file.read(), path)


shapes()
names()
random_tables()
library()
for function in (tell, shapes, delta_table):
    tell(function.__code__)
print("ready", flush=True)
sys.stdin.readline()
