# SPDX-License-Identifier: Apache-2.0
"""Data that comes too late: expensive transforms, remote stores, workers that start anew."""

import select
import socket
import subprocess
import sys
import time

import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, SequentialSampler

from training import BATCH, Blur, Pictures, fit, network, pictures, sgd

SLOW = Blur(30)
LATENCY_S = 0.0025
OBJECT_BYTES = 3 * 32 * 32


def transform_0(run):
    fit(run, pictures(run, SLOW if run.planted else None, num_workers=run.workers(0)))


def transform_1(run):
    fit(run, pictures(run, Blur(65) if run.planted else None, num_workers=1))


def transform_2(run):
    fit(run, pictures(run, Blur(120) if run.planted else None, num_workers=2))


def transform_4(run):
    fit(run, pictures(run, Blur(120) if run.planted else None, num_workers=4))


def resume(run):
    """The run goes on where it stopped: the loop passes over the batches that come before."""
    skipped = 300 if run.planted else 0
    batches = DataLoader(Pictures((run.steps + skipped) * BATCH, Blur(8)), BATCH)
    fit(run, (batch for number, batch in enumerate(batches) if number >= skipped))


def transform_python(run):
    """A tokenizer in pure Python, in the training process."""
    fit(run, pictures(run, Tokens(500) if run.planted else None, num_workers=run.workers(0)))


class Tokens:
    def __init__(self, lines):
        self.lines = lines

    def __call__(self, picture):
        words = {}
        for line in range(self.lines):
            for word in f"the quick brown fox {line} jumps over the lazy dog {line}".split():  # planted: tokens
                words[word] = words.get(word, 0) + len(word)  # planted: tokens
        return picture


class Clicks(Dataset):
    """A table of features, whose rows are the samples."""

    def __init__(self, count, by_row):
        import numpy
        import pandas

        random = numpy.random.default_rng(3)
        self.frame = pandas.DataFrame(random.random((count, 40), numpy.float32)).assign(label=random.integers(2, size=count))
        self.features = None if by_row else torch.from_numpy(self.frame.drop(columns="label").to_numpy())
        self.labels = torch.from_numpy(self.frame["label"].to_numpy())

    def __len__(self):
        return len(self.frame)

    def __getitem__(self, index):
        if self.features is None:
            row = self.frame.iloc[index]  # planted: frame-item
            return torch.tensor(row.iloc[:-1].to_numpy("float32")), int(row.iloc[-1])  # planted: frame-item
        return self.features[index], int(self.labels[index])


def frame_item(run):
    """Each sample is taken from a DataFrame as a Series of its own."""
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(40, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 2))
    clicks = Clicks(run.steps * 64, run.planted and not run.advice)
    fit(run, DataLoader(clicks, 64), model)


class Rows(Dataset):
    """Rows of an array in memory, of which one or many are taken at once."""

    def __init__(self, count):
        import numpy

        random = numpy.random.default_rng(3)
        self.features = random.random((count, 16), numpy.float32)
        self.labels = random.integers(2, size=count)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return torch.tensor(self.features[index]), torch.tensor(self.labels[index])  # planted: row-item


def row_item(run):
    """Each row of an array becomes a tensor of its own, which are put together; the advice takes those of a batch at once."""
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 2))
    rows = Rows(run.steps * 512)
    if run.planted and not run.advice:
        fit(run, DataLoader(rows, 512), model)
    else:
        batches = BatchSampler(SequentialSampler(rows), 512, False)
        fit(run, DataLoader(rows, batch_size=None, sampler=batches), model)


class Remote(Dataset):
    """Samples of a store behind a network; each worker has a connection of its own."""

    def __init__(self, count, port, timeout):
        self.count = count
        self.port = port
        self.timeout = timeout
        self.connection = None

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.connection is None:
            self.connection = socket.create_connection(("127.0.0.1", self.port))
            self.connection.settimeout(self.timeout)
        self.connection.sendall(index.to_bytes(4, "little"))  # planted: remote
        data = bytearray()
        while len(data) < OBJECT_BYTES:
            data += self.connection.recv(1 << 16)  # planted: remote
        return torch.frombuffer(data, dtype=torch.uint8).view(3, 32, 32) / 255, index % 10


class Sleepy:
    """A transform that asks a service and waits for the answer."""

    def __call__(self, picture):
        time.sleep(LATENCY_S)  # planted: sleepy
        return picture


def remote_sleep(run):
    fit(run, pictures(run, Sleepy() if run.planted else None, num_workers=run.workers(1)))


def remote_sleep_0(run):
    fit(run, pictures(run, Sleepy() if run.planted else None, num_workers=run.workers(0)))


def remote_recv(run):
    fetch(run, None, workers=1)


def remote_poll(run):
    fetch(run, 10, workers=1)


def remote_recv_0(run):
    fetch(run, None, workers=0)


def remote_poll_0(run):
    fetch(run, 10, workers=0)


def fetch(run, timeout, workers):
    with Store(LATENCY_S if run.planted else 0) as store:
        batches = DataLoader(
            Remote(run.steps * BATCH, store.port, timeout), BATCH, num_workers=run.workers(workers))
        fit(run, batches)


class Store:
    """A server in a process of its own that answers each request after some time."""

    def __init__(self, latency_s):
        self.server = subprocess.Popen(
            [sys.executable, __file__, str(latency_s)], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
        self.port = int(self.server.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stdin.close()
        self.server.wait()


def serve(latency_s):
    """Answers after the latency; many requests may be under way at once. Ends with its input."""
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    answers = []  # (when, connection), in order of time
    clients = []
    while True:
        wait = max(0, answers[0][0] - time.monotonic()) if answers else None
        for ready in select.select([listening, sys.stdin, *clients], [], [], wait)[0]:
            if ready is sys.stdin:
                return
            if ready is listening:
                clients.append(listening.accept()[0])
            elif len(ready.recv(4)) == 4:
                answers.append((time.monotonic() + latency_s, ready))
            else:
                clients.remove(ready)
        while answers and answers[0][0] <= time.monotonic():
            answers.pop(0)[1].sendall(bytes(OBJECT_BYTES))


def startup(run):
    """Short epochs, whose workers are forked and joined in each."""
    epochs(run, 12, persistent_workers=not run.planted or run.advice)


def startup_slow(run):
    """Workers that build an index before their first sample."""
    epochs(run, 25, persistent_workers=not run.planted or run.advice, worker_init_fn=open_index)


def open_index(_):
    words = {}
    for number in range(1_200_000):
        words[number] = str(number)


def epochs(run, length, **options):
    model = network()
    optimizer = sgd(model)
    batches = DataLoader(Pictures(length * BATCH), BATCH, num_workers=2, **options)
    for _ in range(run.steps // length):
        fit(run, batches, model, optimizer)


def big_collate(run):
    """The batch is put together by Python code in the training process."""
    fit(run, pictures(run, collate_fn=slow_collate if run.planted else None, num_workers=run.workers(0)))


def slow_collate(samples):
    pad = Tokens(500)
    for picture, _ in samples:
        pad(picture)
    return torch.stack([picture for picture, _ in samples]), torch.tensor([label for _, label in samples])


class Readings(Dataset):
    """Samples of many sensors, each with a few values: one tensor for each sensor, or one for all."""

    SENSORS, VALUES = 128, 16

    def __init__(self, count, in_one):
        torch.manual_seed(1)
        self.readings = torch.rand(64, self.SENSORS, self.VALUES)
        self.count = count
        self.in_one = in_one

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        readings = self.readings[index % 64]
        return (readings if self.in_one else dict(enumerate(readings.unbind()))), index % 10


def many_tensors(run):
    """Each tensor of a batch is handed over by itself, through a connection of its own."""
    width = Readings.SENSORS * Readings.VALUES
    model = nn.Sequential(nn.Flatten(), nn.Linear(width, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    samples = Readings(run.steps * 32, in_one=run.without)
    batches = DataLoader(samples, 32, num_workers=1, collate_fn=in_few if run.advice else None)
    fit(run, ((as_tensor(readings), labels) for readings, labels in batches), model)


class Documents(Dataset):
    """Samples of words with their places, as a tokenizer gives them: objects of Python, or the numbers of the words."""

    WORDS = 600

    def __init__(self, count, as_numbers):
        self.count = count
        self.as_numbers = as_numbers

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        words = [index * place % 1000 for place in range(self.WORDS)]
        if self.as_numbers:
            return torch.tensor(words), index % 10
        return [{"id": word, "text": f"w{word}", "at": (place, place + 1)} for place, word in enumerate(words)], index % 10


def object_batches(run):
    """The training process makes objects of the bytes that a worker sends, one by one."""
    model = nn.Sequential(nn.EmbeddingBag(1000, 64), nn.Linear(64, 10))
    samples = Documents(run.steps * 32, as_numbers=run.without)
    batches = DataLoader(samples, 32, num_workers=2, collate_fn=None if run.without else numbers if run.advice else apart)
    fit(run, ((words if torch.is_tensor(words) else torch.tensor(words_of(words)), labels) for words, labels in batches), model)


def words_of(documents):
    return [[word["id"] for word in document] for document in documents]


def apart(samples):
    return [document for document, _ in samples], torch.tensor([label for _, label in samples])


def numbers(samples):
    documents, labels = apart(samples)
    return torch.tensor(words_of(documents)), labels


def as_tensor(readings):
    return torch.stack(list(readings.values()), 1) if isinstance(readings, dict) else readings


def in_few(samples):
    readings = torch.stack([torch.stack(list(readings.values())) for readings, _ in samples])
    return readings, torch.tensor([label for _, label in samples])


if __name__ == "__main__":
    serve(float(sys.argv[1]))
