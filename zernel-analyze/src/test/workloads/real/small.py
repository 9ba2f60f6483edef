# SPDX-License-Identifier: Apache-2.0
"""Jobs that call operators on little: calling one takes longer than what it computes."""

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from training import Pictures, network, sgd

PAIRS = 96


def pair_loss(run):
    """Pictures are told apart by the distances of their vectors, taken pair by pair."""
    model = network()
    optimizer = sgd(model)
    torch.manual_seed(4)
    first, second = torch.randint(16, (PAIRS,)), torch.randint(16, (PAIRS,))

    def loss(vectors, labels):
        if not run.planted:
            distances = (vectors[first] - vectors[second]).square().sum(1)
            alike = labels[first] == labels[second]
            return torch.where(alike, distances, F.relu(1 - distances)).mean()
        total = 0
        for one, other in zip(first, second):
            distance = (vectors[one] - vectors[other]).square().sum()  # planted: pair-loss
            total = total + (distance if labels[one] == labels[other] else F.relu(1 - distance))  # planted: pair-loss
        return total / PAIRS

    for pictures, labels in DataLoader(Pictures(run.steps * 16), 16):
        optimizer.zero_grad()
        loss(model(pictures), labels).backward()
        optimizer.step()
        run.tick()


def small_tensors(run):
    """Bodies that attract each other are moved, each by itself or all at once; nothing is trained."""
    torch.manual_seed(5)
    places, speeds = torch.rand(48, 3), torch.zeros(48, 3)
    for _ in range(run.steps):
        if run.planted:
            pulls = torch.stack([pull(places, place) for place in places])
        else:
            away = places[None] - places[:, None]
            pulls = (away / (away.square().sum(2, keepdim=True) + 0.1)).mean(1)
        speeds += 0.001 * pulls
        places = places + 0.001 * speeds
        run.tick()


def pull(places, place):
    away = places - place
    return (away / (away.square().sum(1, keepdim=True) + 0.1)).mean(0)  # planted: small-tensors
