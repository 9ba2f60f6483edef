# SPDX-License-Identifier: Apache-2.0
"""Jobs that have nothing to fix, with steps of several lengths, and jobs without PyTorch."""

import torch
import torch.nn.functional as F
from torch import nn

from training import BATCH, Blur, fit, in_memory, network, pictures, sgd

# Handing a batch over takes 2 ms: a loop that computes for 10 ms between two of them has something to fix.
WIDE = 96


def half_a_ms(run):
    """A small classifier whose batches come out of tensors."""
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = sgd(model)
    inputs, labels = torch.rand(64, 64), torch.arange(64) % 10
    for _ in range(run.steps):
        optimizer.zero_grad()
        F.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
        run.tick()


def steps_of_5_ms(run):
    fit(run, in_memory(run), network(16))


def steps_of_20_ms(run):
    fit(run, in_memory(run, 2 * BATCH))


def steps_of_200_ms(run):
    fit(run, in_memory(run, 16 * BATCH))


def loader_0(run):
    """Samples in memory, collated in the training process."""
    fit(run, pictures(run))


def workers_2(run):
    """Two workers that keep up with the training."""
    fit(run, pictures(run, Blur(2), num_workers=2), network(WIDE))


def worker_persistent(run):
    """Epochs with a worker that stays."""
    model = network(WIDE)
    optimizer = sgd(model)
    batches = pictures(type(run)(50, run.folder), Blur(2), num_workers=1, persistent_workers=True)
    for _ in range(run.steps // 50):
        fit(run, batches, model, optimizer)


def item(run):
    """The loss is read in each step, eleven times; on a CPU that costs nothing."""
    model = network()
    optimizer = sgd(model)
    losses = []
    for inputs, labels in in_memory(run):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(sum(loss.item() for _ in range(11)))
        run.tick()


class Carts:
    """Many carts at once, each with a pole to balance."""

    def __init__(self, count):
        self.state = torch.zeros(count, 4)

    def step(self, left):
        at, speed, angle, turn = self.state.unbind(1)
        force = torch.where(left, -10.0, 10.0) + 0.05 * turn**2 * angle.sin()
        angular = (9.8 * angle.sin() - angle.cos() * force / 1.1) / (0.67 - 0.05 * angle.cos() ** 2)
        self.state = torch.stack([at + 0.02 * speed, speed + 0.02 * force / 1.1, angle + 0.02 * turn, turn + 0.02 * angular], 1)
        fallen = (self.state[:, 2].abs() > 0.2) | (self.state[:, 0].abs() > 2.4)
        self.state[fallen] = 0.0
        return self.state, 1.0 - fallen.float()


def collect_rollouts(policy, carts, length):
    states, actions, rewards = [], [], []
    with torch.no_grad():
        for _ in range(length):
            state = carts.state
            left = torch.rand(len(state)) < torch.sigmoid(policy(state)[:, 0])
            _, reward = carts.step(left)
            states.append(state)
            actions.append(left)
            rewards.append(reward)
    returns = torch.stack(rewards).flip(0).cumsum(0).flip(0).flatten()
    return torch.cat(states), torch.cat(actions), (returns - returns.mean()) / (returns.std() + 1e-3)


def policy_gradient(run):
    """Reinforcement learning: steps in turn with rollouts of many environments at once."""
    torch.manual_seed(6)
    policy = nn.Sequential(nn.Linear(4, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 1))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-4)
    carts = Carts(1024)
    for step in range(run.steps):
        if step % 12 == 0:
            states, actions, returns = collect_rollouts(policy, carts, 16)
            parts = torch.randperm(len(states)).tensor_split(12)
        part = parts[step % 12]
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(policy(states[part])[:, 0], actions[part].float(), weight=returns[part])
        loss.backward()
        optimizer.step()
        run.tick()


def adamw(run):
    """AdamW as it comes, on a model that needs it."""
    model = network()
    fit(run, in_memory(run), model, torch.optim.AdamW(model.parameters()))


def transformer(run):
    """A small transformer over sequences of tokens."""
    torch.manual_seed(6)
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = nn.Sequential(nn.Embedding(1000, 64), nn.TransformerEncoder(layer, 2), nn.Linear(64, 1000))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    tokens = torch.randint(1000, (4, 65))
    for _ in range(run.steps):
        optimizer.zero_grad()
        F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()
        optimizer.step()
        run.tick()


def threads_2(run):
    """Two threads for operators, on two CPUs."""
    torch.set_num_threads(2)
    fit(run, in_memory(run, 2 * BATCH))


def quiet_thread(run):
    """A logger thread that waits for messages and gets one each 50 steps."""
    import queue
    import threading

    messages = queue.Queue()
    threading.Thread(target=lambda: [None for _ in iter(messages.get, None)], name="logger", daemon=True).start()

    def tell():
        if len(run.clock) % 50 == 0:
            messages.put(len(run.clock))

    fit(run, in_memory(run), after_step=tell)
