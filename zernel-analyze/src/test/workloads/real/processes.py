# SPDX-License-Identifier: Apache-2.0
"""Other processes that the loop waits for: a server, a command, one that fills a queue, one that reads a pipe."""

import multiprocessing
import os
import socket
import subprocess
import sys
import time

from loading import OBJECT_BYTES, Store
from training import fit, in_memory

WAIT_S = 0.015


def ask(run):
    """Each step is reported to a server, as to one that tracks experiments, and waits for its answer."""
    reported(run, 1)


def ask_seldom(run):
    """Every tenth step is reported to a server, and waits ten times as long for its answer."""
    reported(run, 10)


def reported(run, every):
    with Store(every * WAIT_S if run.planted else 0) as store:
        connection = socket.create_connection(("127.0.0.1", store.port))
        steps = iter(range(1, run.steps + 1))

        def report():
            if next(steps) % every:
                return
            connection.sendall(b"step")
            left = OBJECT_BYTES
            while left:
                left -= len(connection.recv(left))  # planted: report

        fit(run, in_memory(run), after_step=report)
        connection.close()


def command(run):
    """Each step runs a command, as one that asks for the memory of a GPU."""

    def query():
        if run.planted:
            subprocess.run(["sleep", str(WAIT_S)], check=True)  # planted: query

    fit(run, in_memory(run), after_step=query)


def queue_process(run):
    """Batches come from a process of the job's own through a queue, as from an actor; it sleeps for each."""
    filled = multiprocessing.Queue(2)
    actor = multiprocessing.Process(target=act, args=(filled, run.steps, 0.025 if run.planted else 0), daemon=True)
    actor.start()
    batches = list(in_memory(run))

    def take():
        for batch in batches:
            filled.get()  # planted: take
            yield batch

    fit(run, take())
    actor.join()


def act(filled, count, wait_s):
    for number in range(count):
        time.sleep(wait_s)
        filled.put(number)


def pool_map(run):
    """Each step has a pool of processes compute something, whose results a thread of the job takes from a pipe."""
    pool = multiprocessing.get_context("fork").Pool(2)

    def features():
        if run.planted:
            pool.map(extract, range(16), chunksize=2)  # planted: features

    fit(run, in_memory(run), after_step=features)
    pool.terminate()
    pool.join()


def extract(number):
    return sum(value * number % 7 for value in range(20_000))


def slow_reader(run):
    """Each step prints 64 kB to a pipe, whose reader takes its time with them."""
    reading = f"import sys, time\nwhile sys.stdin.buffer.read1(65536): time.sleep({WAIT_S if run.planted else 0})"
    reader = subprocess.Popen([sys.executable, "-c", reading], stdin=subprocess.PIPE)
    line = b"." * 65536

    def show():
        os.write(reader.stdin.fileno(), line)  # planted: show

    fit(run, in_memory(run), after_step=show)
    reader.kill()
    reader.wait()
