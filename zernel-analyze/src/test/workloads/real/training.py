# SPDX-License-Identifier: Apache-2.0
"""What the jobs share: a small model, samples in memory, and the usual loop."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

BATCH = 16


class Pictures(Dataset):
    """Samples in memory; `transform` is what is done with each of them."""

    def __init__(self, count, transform=None):
        torch.manual_seed(1)
        self.pictures = torch.rand(64, 3, 32, 32)
        self.count = count
        self.transform = transform

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        picture = self.pictures[index % 64]
        return (self.transform(picture) if self.transform else picture), index % 10


class Blur:
    """An augmentation that costs CPU time: as many passes of a small filter as it is told."""

    def __init__(self, passes):
        self.passes = passes

    def __call__(self, picture):
        for _ in range(self.passes):
            picture = F.avg_pool2d(picture, 3, stride=1, padding=1)  # planted: blur
        return picture


def network(width=24):
    torch.manual_seed(2)
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1), nn.ReLU(),
        nn.Conv2d(width, width, 3, padding=1, stride=2), nn.ReLU(),
        nn.Conv2d(width, width, 3, padding=1, stride=2), nn.ReLU(),
        nn.Flatten(), nn.Linear(64 * width, 10),
    )


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


def pictures(run, transform=None, batch=BATCH, **options):
    """A loader of as many batches as the run has steps."""
    return DataLoader(Pictures(run.steps * batch, transform), batch, **options)


def fit(run, batches, model=None, optimizer=None, after_step=None):
    """One epoch, as it is written everywhere."""
    model = model or network()
    optimizer = optimizer or sgd(model)
    for inputs, labels in batches:
        optimizer.zero_grad()
        F.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
        run.tick()
        if after_step:
            after_step()
    return model


def in_memory(run, batch=BATCH):
    """Batches that cost nothing: the loop of a job that keeps its data in tensors."""
    inputs, labels = torch.rand(batch, 3, 32, 32), torch.arange(batch) % 10
    for _ in range(run.steps):
        yield inputs, labels


class Tagger(nn.Module):
    """Reads sequences with an LSTM, as one layer or place by place."""

    def __init__(self, by_place):
        super().__init__()
        torch.manual_seed(3)
        self.by_place = by_place
        self.cell, self.layer, self.head = nn.LSTMCell(16, 32), nn.LSTM(16, 32), nn.Linear(32, 4)

    def forward(self, sequences):
        if not self.by_place:
            return self.head(self.layer(sequences)[0])
        state, seen = None, []
        for place in sequences:
            state = self.cell(place, state)  # planted: lstm-cell
            seen.append(state[0])
        return self.head(torch.stack(seen))


def lstm_cell(run):
    """A recurrent network that calls a cell for each place of its sequences."""
    torch.set_num_threads(1)
    model = Tagger(run.planted)
    optimizer = sgd(model)
    sequences, tags = torch.rand(64, 16, 16), torch.randint(4, (64 * 16,))
    for _ in range(run.steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(sequences).reshape(-1, 4), tags).backward()
        optimizer.step()
        run.tick()
