# SPDX-License-Identifier: Apache-2.0
"""Work and rest of the training thread itself, between the calls of a step."""

import gc
import time

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from training import BATCH, fit, in_memory, network, sgd


def gc_collect(run):
    """Python's collector is told to run every ten steps, over many objects."""
    cache = [{"id": number, "name": str(number)} for number in range(200_000)]
    if run.advice:
        gc.freeze()
    steps = iter(range(1, run.steps + 1))

    def collect():
        if run.planted and next(steps) % 10 == 0:
            gc.collect()  # planted: collect

    fit(run, in_memory(run), after_step=collect)
    cache.clear()


def gc_natural(run):
    """Objects that live long make the collector look through all of them again and again."""
    history = []
    if run.without or run.advice:
        gc.disable()

    def remember():
        history.extend([number] for number in range(6000))  # planted: remember

    fit(run, in_memory(run), after_step=remember)


def sleep_periodic(run):
    """Every 20 steps the loop sleeps, as one does that polls for a file or a lock."""
    steps = iter(range(1, run.steps + 1))

    def poll():
        if run.planted and next(steps) % 20 == 0:
            time.sleep(0.3)  # planted: poll

    fit(run, in_memory(run), after_step=poll)


def summaries(run):
    """Every ten steps all weights are sorted for a histogram; steps vary, as batches have as many pictures as come."""
    sizes = torch.randint(16, 48, (run.steps,), generator=torch.Generator().manual_seed(5)).tolist()
    model = network()
    weights = torch.rand(3 << 17)
    steps = iter(range(1, run.steps + 1))

    def summarize():
        if run.planted and next(steps) % 10 == 0:
            torch.sort(weights)  # planted: summaries

    fit(run, ((torch.rand(size, 3, 32, 32), torch.arange(size) % 10) for size in sizes), model, after_step=summarize)


def sleep_each(run):
    """A pause of 8 ms in each step, forgotten after a test."""

    def pause():
        if run.planted:
            time.sleep(0.008)  # planted: pause

    fit(run, in_memory(run), after_step=pause)


def python_between(run):
    """Statistics in pure Python between the steps, such as metrics over a batch."""

    def statistics():
        if run.planted:
            words = {}
            for number in range(75_000):  # planted: statistics
                words[number % 97] = words.get(number % 97, 0) + number * number % 7  # planted: statistics

    fit(run, in_memory(run), after_step=statistics)


def growing(run):
    """All losses so far are gone through in each step."""
    history = []

    def smooth():
        if run.planted:
            history.extend(range(500))
            sum(loss * 0.98 for loss in history)  # planted: smooth

    fit(run, in_memory(run), after_step=smooth)


def manual(run):
    """No DataLoader: the loop makes its batches with NumPy."""
    import numpy

    random = numpy.random.default_rng(1)
    model = network()
    optimizer = sgd(model)
    labels = torch.arange(BATCH) % 10
    inputs = torch.rand(BATCH, 3, 32, 32)
    for _ in range(run.steps):
        if run.planted:
            noise = random.normal(size=(BATCH * 16, 3, 32, 32))  # planted: batches
            inputs = torch.from_numpy(numpy.sort(noise, axis=3)[:BATCH].astype(numpy.float32))  # planted: batches
        optimizer.zero_grad()
        F.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
        run.tick()


def evaluation(run):
    """Every 30 steps the model is evaluated on 50 batches of a loader of its own."""
    model = network()
    images = TensorDataset(torch.rand(50 * BATCH, 3, 32, 32), torch.arange(50 * BATCH) % 10)
    steps = iter(range(1, run.steps + 1))

    def evaluate():
        if run.planted and next(steps) % 30 == 0:
            model.eval()
            with torch.no_grad():
                right = sum((model(inputs).argmax(1) == labels).sum().item()  # planted: evaluation
                            for inputs, labels in DataLoader(images, BATCH))  # planted: evaluation
            model.train()
            run.more["right"] = right

    shown = TensorDataset(torch.rand(run.steps * BATCH, 3, 32, 32), torch.arange(run.steps * BATCH) % 10)
    fit(run, DataLoader(shown, BATCH), model, after_step=evaluate)


def memory_growth(run):
    """Each second loss is kept with its graph: memory of the host grows by megabytes."""
    kept = []
    model = network()
    optimizer = sgd(model)
    for inputs, labels in in_memory(run):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward(retain_graph=run.planted)
        optimizer.step()
        kept.append(loss if run.planted and len(kept) % 2 else loss.item())
        run.tick()
