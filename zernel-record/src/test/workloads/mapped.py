# SPDX-License-Identifier: Apache-2.0
"""Reads mapped files whose pages are not in memory.

Makes files in the first folder that it is given, prints `ready`, waits for a line on its input, drops the files from the page cache,
reads one page of each through a mapping, by its name in the second folder, and prints one line of JSON: the line that reads, how many
files were not in memory, and how often the thread gave its CPU up for them; on a fast disk a page may be there before it has to.
"""

import ctypes
import json
import mmap
import os
import resource
import sys

FILES = 24
SIZE = 1 << 20


def is_absent(view):
    """Whether the first page is not in memory. To read it without waiting would start to bring it there."""
    resident = ctypes.create_string_buffer(1)
    address = ctypes.addressof(ctypes.c_char.from_buffer(view))
    if ctypes.CDLL(None).mincore(ctypes.c_void_p(address), ctypes.c_size_t(1), resident) != 0:
        raise OSError("asking which pages are in memory")
    return not resident.raw[0] & 1


def touch(view):
    return view[0]  # the line that waits


def waits():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw


def main():
    made, read = sys.argv[1:]
    for number in range(FILES):
        with open(os.path.join(made, str(number)), "wb") as file:
            file.write(os.urandom(SIZE))
            os.fsync(file.fileno())
    print("ready", flush=True)
    sys.stdin.readline()
    absent, waited = 0, 0
    for number in range(FILES):
        with open(os.path.join(read, str(number)), "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            os.pread(file.fileno(), 1, SIZE)  # at its end, which brings nothing there: the recorder learns its path by it
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as view:
                absent += is_absent(view)
                before = waits()
                touch(view)
                waited += waits() - before
    print(json.dumps({"line": touch.__code__.co_firstlineno + 1, "absent": absent, "waited": waited}), flush=True)


if __name__ == "__main__":
    main()
