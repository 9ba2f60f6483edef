# SPDX-License-Identifier: Apache-2.0
"""What a stack costs the thread that is blocked. For each line on standard input:

    sleeps DEPTH BATCHES CALLS    so many sleeps of 1.5 ms, that many Python functions deep; a line `done NANOSECONDS` for
                                  each batch: CPU time of the thread for each sleep
    burns DEPTH SECONDS           computes so long, that deep; then a line `done`
"""
import sys
import time


def sleep(calls):
    began = time.thread_time_ns()
    for _ in range(calls):
        time.sleep(0.0015)
    return (time.thread_time_ns() - began) / calls


def burn(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))


def deep(depth, function, argument):
    return deep(depth - 1, function, argument) if depth > 0 else function(argument)


def main():
    print("ready", flush=True)
    for line in sys.stdin:
        what, depth, *numbers = line.split()
        if what == "sleeps":
            for _ in range(int(numbers[0])):
                print("done", deep(int(depth), sleep, int(numbers[1])), flush=True)
        else:
            deep(int(depth), burn, float(numbers[0]))
            print("done", flush=True)


main()
