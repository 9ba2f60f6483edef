# SPDX-License-Identifier: Apache-2.0
"""Models that answer requests: nothing tells steps, as nothing is trained."""

import asyncio
import gc
import os
import signal
import socket
import socketserver
import subprocess
import threading
import time

import torch

from threads import SPINS

REQUEST_BYTES = 64


class Store(socketserver.BaseRequestHandler):
    """A server of features, which takes its time."""

    def handle(self):
        while self.request.recv(REQUEST_BYTES):
            time.sleep(0.008)
            self.request.sendall(b"f" * REQUEST_BYTES)


def event_loop(run):
    """Requests are served by asyncio; each asks another server for its features, which blocks the loop."""
    torch.set_num_threads(1)
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Store)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    store = socket.create_connection(server.server_address)
    model = torch.nn.Sequential(torch.nn.Linear(64, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 10)).eval()

    def features():
        store.sendall(b"k")
        store.recv(REQUEST_BYTES)  # planted: event-loop

    async def answer():
        if run.planted:
            features()
        else:
            await asyncio.sleep(0.008)
        with torch.no_grad():
            model(torch.rand(64, 64)).argmax(1).tolist()
        run.tick()

    async def client():
        for _ in range(run.steps // 8):
            await answer()

    async def serve():
        await asyncio.gather(*[client() for _ in range(8)])

    asyncio.run(serve())
    store.close()
    server.shutdown()
    server.server_close()


def locked_cache(run):
    """Threads answer requests; what is not in their cache they fetch from another server, with the cache's lock held."""
    torch.set_num_threads(1)
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Store)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    model = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).eval()
    lock, ticks = threading.Lock(), threading.Lock()

    def fetch(store):
        store.sendall(b"k")
        return store.recv(REQUEST_BYTES)

    def features(store):
        if not run.planted:
            return fetch(store)
        with lock:  # planted: locked-cache
            return fetch(store)

    def serve():
        with socket.create_connection(server.server_address) as store:
            for _ in range(run.steps // 4):
                features(store)
                with torch.no_grad():
                    model(torch.rand(16, 64)).argmax(1).tolist()
                with ticks:
                    run.tick()

    threads = [threading.Thread(target=serve) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.shutdown()
    server.server_close()


def compiled_lengths(run):
    """Each request has another length, and a compiled model of static shapes is compiled again for it."""
    torch._dynamo.config.recompile_limit = 10_000
    torch._dynamo.config.accumulated_recompile_limit = 10_000
    model = torch.compile(torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)).eval(), dynamic=False)
    for step in range(run.steps):
        length = 16 + (step if run.planted else step % 2)
        with torch.no_grad():
            for _ in range(200):
                model(torch.rand(length, 64))  # planted: compiled-lengths
        run.tick()


def collected(run):
    """Threads answer requests beside a large table; every few requests, the collector is asked to look through it."""
    torch.set_num_threads(1)
    table = {key: {"id": key, "tags": [key, key + 1], "meta": {"a": [key]}} for key in range(200_000)}
    model = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).eval()
    ticks, served = threading.Lock(), []

    def answer(request):
        found = [{"key": key, "document": table[key]} for key in range(request % 100, request % 100 + 50)]
        with torch.no_grad():
            model(torch.rand(16, 64)).argmax(1).tolist()
        with ticks:
            served.append(found[0]["key"])
            run.tick()
        if run.planted and len(served) % 20 == 0:
            gc.collect()  # planted: collected

    def serve():
        for request in range(run.steps // 2):
            answer(request)
            time.sleep(0.002)

    threads = [threading.Thread(target=serve) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def half_answers(run):
    """A model is loaded in the type that it was saved in, bfloat16, for which this CPU has no instructions."""
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256)).eval()
    dtype = torch.bfloat16 if run.planted else torch.float32
    model.to(dtype)
    for _ in range(run.steps):
        with torch.no_grad():
            model(torch.rand(64, 256, dtype=dtype)).argmax(1).tolist()  # planted: half-answers
        run.tick()


def training_mode(run):
    """A model answers as it was left after its training: in training mode."""
    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.BatchNorm2d(32), torch.nn.ReLU(), torch.nn.Dropout(0.1),
        torch.nn.Conv2d(32, 32, 3, padding=1), torch.nn.BatchNorm2d(32), torch.nn.ReLU(), torch.nn.Dropout(0.1),
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(32, 10))
    if not run.planted:
        model.eval()
    for _ in range(run.steps):
        with torch.no_grad():
            model(torch.rand(8, 3, 64, 64)).argmax(1).tolist()  # planted: training-mode
        run.tick()


def reloaded(run):
    """A function answers each request with a model that it loads for it."""
    torch.set_num_threads(1)
    path = os.path.join(run.folder, "model.pt")
    torch.save(torch.nn.Sequential(
        torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).eval(), path)
    model = None
    for _ in range(run.steps):
        if run.planted or model is None:
            model = torch.load(path, weights_only=False)  # planted: reloaded
        with torch.no_grad():
            model(torch.rand(64, 256)).argmax(1).tolist()
        run.tick()


def synced_rows(run):
    """A model scores rows, and each result is synced to a file by itself."""
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1)).eval()
    with open(os.path.join(run.folder, "scores.csv"), "w") as file:
        for row in range(run.steps):
            with torch.no_grad():
                score = model(torch.rand(1, 64)).item()
            print(row, score, sep=",", file=file)
            if run.planted or row % 500 == 0:
                file.flush()
                os.fsync(file.fileno())  # planted: synced-rows
            run.tick()


def many_threads(run):
    """A model answers with as many threads as the machine had that it was set up for."""
    torch.set_num_threads(16 if run.planted else 2)
    model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512)).eval()
    for _ in range(run.steps):
        with torch.no_grad():
            model(torch.rand(256, 512)).sum().item()
        run.tick()


def crowded(run):
    """A model answers requests one by one, with two threads, while two other programs compute on the CPUs."""
    torch.set_num_threads(2)
    others = [int(subprocess.check_output(["sh", "-c", SPINS])) for _ in range(2 if run.planted else 0)]
    model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512)).eval()
    try:
        for _ in range(run.steps):
            with torch.no_grad():
                model(torch.rand(256, 512)).sum().item()
            run.tick()
    finally:
        for other in others:
            os.kill(other, signal.SIGKILL)
