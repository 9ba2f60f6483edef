# SPDX-License-Identifier: Apache-2.0
"""Recommenders: large tables of embeddings, of which a batch reads a few rows."""

import torch
import torch.nn.functional as F
from torch import nn

USERS, ITEMS, WIDTH, BATCH, HISTORY = 200_000, 100_000, 32, 128, 20


class Recommender(nn.Module):
    """The usual two tables, a sum over what a user has seen, and a small network above them."""

    def __init__(self, sparse):
        super().__init__()
        torch.manual_seed(2)
        self.users = nn.Embedding(USERS, WIDTH, sparse=sparse)
        self.items = nn.Embedding(ITEMS, WIDTH, sparse=sparse)
        self.head = nn.Sequential(nn.Linear(2 * WIDTH, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, users, seen):
        return self.head(torch.cat([self.users(users), self.items(seen).mean(1)], 1)).squeeze(1)


def dense_gradients(run):
    """The gradient of a table has as many rows as the table, and the optimizer goes through all of them."""
    sparse = run.advice or not run.planted
    model = Recommender(sparse)
    optimizers = [torch.optim.Adam(model.head.parameters() if sparse else model.parameters(), lr=0.001)]
    if sparse:
        optimizers.append(torch.optim.SparseAdam([model.users.weight, model.items.weight], lr=0.001))
    for _ in range(run.steps):
        users, seen = torch.randint(USERS, (BATCH,)), torch.randint(ITEMS, (BATCH, HISTORY))
        clicked = (users % 2).float()
        for optimizer in optimizers:
            optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(model(users, seen), clicked).backward()
        for optimizer in optimizers:
            optimizer.step()
        run.tick()
