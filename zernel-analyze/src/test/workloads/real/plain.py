# SPDX-License-Identifier: Apache-2.0
"""Jobs that never load PyTorch."""

import math
import time


def numpy_only(run):
    """Gradient descent written with NumPy; it does not import PyTorch."""
    import numpy

    random = numpy.random.default_rng(1)
    inputs, weights = random.normal(size=(800, 400)), numpy.zeros(400)
    truth = inputs @ random.normal(size=400)
    for _ in range(run.steps):
        for _ in range(20):
            weights -= 0.1 * inputs.T @ (inputs @ weights - truth) / len(truth)
        run.tick()


def python_waits(run):
    """A loop in pure Python that waits for something in each of its rounds."""
    for _ in range(run.steps):
        sum(math.sqrt(number) for number in range(40_000))
        if run.planted:
            time.sleep(0.02)
        run.tick()


def frame_rows(run):
    """Features are made of the rows of a table, one by one."""
    import numpy
    import pandas

    random = numpy.random.default_rng(1)
    clicks = pandas.DataFrame({"user": random.integers(1000, size=1000), "item": random.integers(500, size=1000), "seconds": random.random(1000)})
    for _ in range(run.steps):
        seconds = {}
        if run.planted:
            for _, row in clicks.iterrows():  # planted: frame-rows
                seconds[row["user"]] = seconds.get(row["user"], 0.0) + row["seconds"]
        else:
            for row in clicks.itertuples():
                seconds[row.user] = seconds.get(row.user, 0.0) + row.seconds
        numpy.sort(numpy.fromiter(seconds.values(), float))
        run.tick()


def worth(basket, prices):
    return sum(prices[item]["each"] * count for item, count in basket)


def of_all(basket):
    return worth(basket, PRICES)


def pool_table(run):
    """Baskets are valued by a pool of processes, which is handed the table of prices with each, or has it."""
    import random
    from multiprocessing import get_context

    numbers = random.Random(1)
    PRICES.update((f"item {n}", {"each": numbers.random(), "tags": [n % 7, n % 11]}) for n in range(20_000))
    items = list(PRICES)
    with get_context("fork").Pool(2) as pool:
        for _ in range(run.steps):
            baskets = [[(numbers.choice(items), 1 + n % 3) for n in range(3000)] for _ in range(4)]
            if run.planted:
                pool.starmap(worth, [(basket, PRICES) for basket in baskets])
            else:
                pool.map(of_all, baskets)
            run.tick()


def sqlite_scan(run):
    """Visits of one user after the other are looked up in a table that has an index by user, or none."""
    import random
    import sqlite3

    numbers = random.Random(1)
    with sqlite3.connect(f"{run.folder}/visits.db") as database:
        database.execute("CREATE TABLE visits (at REAL, user INTEGER, page INTEGER, seconds REAL)")
        database.executemany(
            "INSERT INTO visits VALUES (?, ?, ?, ?)",
            ((numbers.random(), numbers.randrange(5000), numbers.randrange(300), numbers.random()) for _ in range(100_000)))
        if not run.planted:
            database.execute("CREATE INDEX visits_by_user ON visits (user, at)")
    longest = 0.0
    for _ in range(run.steps):
        user = numbers.randrange(5000)
        found = database.execute("SELECT at, page, seconds FROM visits WHERE user = ? ORDER BY at", (user,)).fetchall()  # planted: sqlite-scan
        by_page = [0.0] * 300
        for _, page, seconds in found:
            by_page[page] += seconds
        for _ in range(20):
            longest = max(longest, math.fsum(by_page))
        run.tick()


def serial_requests(run):
    """Images are fetched from a store, one after the other or eight at once, and their means taken."""
    import subprocess
    import sys
    import threading
    from concurrent.futures import ThreadPoolExecutor
    from http.client import HTTPConnection

    store = subprocess.Popen([sys.executable, "-c", STORE], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    port = int(store.stdout.readline())
    kept = threading.local()

    def fetch(number):
        if not hasattr(kept, "connection"):
            kept.connection = HTTPConnection("127.0.0.1", port)
        kept.connection.request("GET", f"/images/{number}")
        return kept.connection.getresponse().read()  # planted: serial-requests

    with ThreadPoolExecutor(8) as pool:
        for batch in range(run.steps):
            numbers = range(16 * batch, 16 * batch + 16)
            images = [fetch(number) for number in numbers] if run.planted else list(pool.map(fetch, numbers))
            for image in images:
                sum(image)
            run.tick()
    store.stdin.close()
    store.wait()


# Waits for each image as for a disk far away. It ends with its input.
STORE = """
import os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Images(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536  # else the reply is two packets, of which the second waits for an answer to the first

    def do_GET(self):
        time.sleep(0.01)
        self.send_response(200)
        self.send_header("Content-Length", "4096")
        self.end_headers()
        self.wfile.write(bytes(4096))

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Images)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
os._exit(0)
"""


PRICES = {}
