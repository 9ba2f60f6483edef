# SPDX-License-Identifier: Apache-2.0
"""Files: samples that are not in memory, checkpoints, logs, dumps."""

import os
import threading

import torch
from torch.utils.data import DataLoader, Dataset

from training import fit, in_memory, network

FILE_BYTES = 4 << 20
SAMPLES = 4


class Shards(Dataset):
    """Each sample is a file of its own, read once in an epoch; cold ones are not in the page cache, as with a data set that is
    larger than memory."""

    def __init__(self, run, count, cold):
        data = os.urandom(FILE_BYTES)
        self.paths = [os.path.join(run.folder, f"{number}.bin") for number in range(count)]
        for path in self.paths:
            with open(path, "wb") as file:
                file.write(data)
        os.sync()
        for path in self.paths if cold else []:
            with open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with open(self.paths[index], "rb", buffering=0) as file:
            data = bytearray(file.read(FILE_BYTES)[:3 * 64 * 64])  # planted: cold
        return torch.frombuffer(data, dtype=torch.uint8).view(3, 64, 64) / 255, index % 10


def cold_0(run):
    fit(run, shards(run, num_workers=0), wide())


def cold_2(run):
    fit(run, shards(run, num_workers=2), wide())


def shards(run, **options):
    return DataLoader(Shards(run, run.steps * SAMPLES, cold=run.planted), SAMPLES, **options)


def warm_2(run):
    """Each sample is a slice of a large file that is read whole; the files are in the page cache, from which a CPU copies them."""

    class Slices(Dataset):
        def __len__(self):
            return run.steps * SAMPLES

        def __getitem__(self, index):
            with open(files[index % len(files)], "rb", buffering=0) as file:
                data = bytearray(file.read(size)[:3 * 64 * 64])  # planted: warm
            return torch.frombuffer(data, dtype=torch.uint8).view(3, 64, 64) / 255, index % 10

    size = 8 * FILE_BYTES if run.planted else 3 * 64 * 64
    files = [os.path.join(run.folder, f"{number}.bin") for number in range(8)]
    for path in files:
        with open(path, "wb") as file:
            file.write(os.urandom(8 * FILE_BYTES))
    os.sync()
    fit(run, DataLoader(Slices(), SAMPLES, num_workers=2), wide())


def wide(width=24):
    model = network(width)
    return model[:-1].append(torch.nn.Linear(4 * model[-1].in_features, 10))


def checkpoint(run):
    """Model and embedding are saved and synced every 20 steps; as advised, a thread saves a copy of them."""
    model = network()
    parts = {**model.state_dict(), "embedding": torch.rand(12 << 20)}
    steps = iter(range(1, run.steps + 1))
    writers = []

    def save():
        if next(steps) % 20 == 0 and run.planted:
            if run.advice:
                for writer in writers:
                    writer.join()
                copy = {name: part.clone() for name, part in parts.items()}
                writers.append(threading.Thread(target=write, args=(run.folder, copy)))
                writers[-1].start()
            else:
                write(run.folder, parts)

    fit(run, in_memory(run), model, after_step=save)
    for writer in writers:
        writer.join()


def write(folder, parts):
    path = os.path.join(folder, "last.ckpt")
    with open(path + ".tmp", "wb") as file:
        torch.save(parts, file)  # planted: checkpoint
        file.flush()  # planted: checkpoint
        os.fsync(file.fileno())  # planted: checkpoint
    os.replace(path + ".tmp", path)


def log_fsync(run):
    """Each step appends lines to several logs, each of them synced."""
    logs = [open(os.path.join(run.folder, f"rank{number}.log"), "a") for number in range(3)]

    def log():
        for file in logs:
            print("step done, loss 0.1234, accuracy 0.9876", file=file)
            if run.planted and not run.advice:
                file.flush()  # planted: log
                os.fsync(file.fileno())  # planted: log

    fit(run, in_memory(run), after_step=log)


def dump(run):
    """Each step writes its activations to a file, unbuffered."""
    activations = torch.rand(2 << 20).numpy()

    def keep():
        if run.planted:
            with open(os.path.join(run.folder, "activations.bin"), "wb", buffering=0) as file:
                file.write(activations)  # planted: dump

    fit(run, in_memory(run), after_step=keep)


def read_self(run):
    """The loop reads a file in each step, without a loader; it is not in the page cache."""
    shards = Shards(run, run.steps, cold=run.planted)
    numbers = iter(range(run.steps))
    fit(run, in_memory(run), after_step=lambda: shards[next(numbers)])


def warm_cache(run):
    """Healthy: the files are read, but from the page cache, by workers that keep up."""
    fit(run, DataLoader(Shards(run, run.steps * SAMPLES, cold=False), SAMPLES, num_workers=1), wide(96))
