# SPDX-License-Identifier: Apache-2.0
"""Other threads and other programs that keep the training from running."""

import multiprocessing
import os
import queue
import signal
import subprocess
import sys
import threading
import time

import torch

from training import BATCH, Blur, fit, in_memory, network


def gil(run):
    """A thread of metrics that counts in pure Python and never stops."""
    if run.planted:
        kind = multiprocessing.get_context("fork").Process if run.advice else threading.Thread
        kind(target=count_for_ever, name="metrics", daemon=True).start()
    fit(run, in_memory(run))


def count_for_ever():
    parent = os.getppid()
    total = 0
    while os.getppid() == parent:
        for number in range(100_000):  # planted: count
            total += number * number % 7  # planted: count


def gil_bursts(run):
    """A thread that formats a table of metrics for 200 ms every 400 ms."""
    if run.planted:
        threading.Thread(target=metrics, name="metrics", daemon=True).start()
    fit(run, in_memory(run))


def metrics():
    while True:
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            ",".join(f"{number}={number * number}" for number in range(500))  # planted: metrics
        time.sleep(0.2)


def lock_sleep(run):
    """Each step takes a lock that a logger holds while it waits for its server."""
    lock = threading.Lock()

    def ship(done):
        while not done.is_set():
            with lock:
                time.sleep(0.02)
            time.sleep(0.001)

    guarded(run, lock, ship)


def lock_work(run):
    """The same with a thread that computes while it holds the lock."""
    lock = threading.Lock()
    blur, picture = Blur(80), torch.rand(3, 64, 64)

    def shrink(done):
        while not done.is_set():
            with lock:
                blur(picture)
            time.sleep(0.001)

    guarded(run, lock, shrink)


def guarded(run, lock, other):
    done = threading.Event()
    if run.planted:
        threading.Thread(target=other, args=(done,), name="logger").start()
    seen = []

    def log():
        with lock:  # planted: guarded
            seen.append(len(seen))

    fit(run, in_memory(run), after_step=log)
    done.set()


def prefetch_thread(run):
    """Batches come from a thread of the job's own through a queue; making one takes longer than a step."""
    filled = queue.Queue(maxsize=4)

    def fill():
        for batch in in_memory(run):
            if run.planted:
                time.sleep(0.02)
            filled.put(batch)
        filled.put(None)

    threading.Thread(target=fill, name="prefetch", daemon=True).start()
    fit(run, iter(filled.get, None))


def prefetch_thread_cpu(run):
    """The same; the thread decodes with the CPU, outside the GIL."""
    filled = queue.Queue(maxsize=4)
    blur = Blur(40 if run.planted else 0)

    def fill():
        for inputs, labels in in_memory(run):
            filled.put((torch.stack([blur(one) for one in torch.cat([inputs, inputs])])[:BATCH], labels))
        filled.put(None)

    threading.Thread(target=fill, name="decode", daemon=True).start()
    fit(run, iter(filled.get, None))


# Of a shell that ends: it is no child of the job.
SPINS = f"'{sys.executable}' -c 'while True: pass' > /dev/null & echo $!"


def hog(run):
    """The job is pinned to one CPU (as by taskset), and so is another program that computes."""
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cpus[:1])
    other = int(subprocess.check_output(["sh", "-c", SPINS])) if run.planted else None
    if run.advice:
        os.sched_setaffinity(0, cpus[-1:])
    try:
        fit(run, in_memory(run))
    finally:
        if other:
            os.kill(other, signal.SIGKILL)


def hog_threads(run):
    """Operators share their work between two threads, and two other programs compute on the CPUs."""
    torch.set_num_threads(2)
    others = [int(subprocess.check_output(["sh", "-c", SPINS])) for _ in range(2 if run.planted else 0)]
    if run.advice:
        for other in others:
            os.setpriority(os.PRIO_PROCESS, other, 19)
    try:
        fit(run, in_memory(run))
    finally:
        for other in others:
            os.kill(other, signal.SIGKILL)


def omp(run):
    """Four threads for operators, on fewer CPUs, beside another process of the job that does the same."""
    torch.set_num_threads(4 if run.planted and not run.advice else 1)
    beside = os.fork()
    if beside == 0:
        # A second training of a sweep, as it is left to run beside the first.
        torch.set_num_threads(4 if run.planted and not run.advice else 1)
        parent, model = os.getppid(), network()
        while os.getppid() == parent:
            model(torch.rand(BATCH, 3, 32, 32)).sum().backward()
        os._exit(0)
    fit(run, in_memory(run))
    os.kill(beside, 9)
    os.waitpid(beside, 0)


def omp_alone(run):
    """Sixteen threads for small operators, on fewer CPUs."""
    torch.set_num_threads(16 if run.planted and not run.advice else 1)
    fit(run, in_memory(run))
