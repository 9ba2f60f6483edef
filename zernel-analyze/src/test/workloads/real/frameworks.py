# SPDX-License-Identifier: Apache-2.0
"""Loops of other shapes: those of Lightning and of Trainer, GANs, accumulation, closures, torch.compile."""

import torch
import torch.nn.functional as F
from torch import nn

from training import BATCH, Blur, Pictures, fit, in_memory, network, pictures, sgd
from loading import SLOW


class LightningLike:
    """Lightning's automatic optimization: `optimizer.step(closure)`, whose closure runs training_step and backward."""

    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    def training_step(self, batch):
        inputs, labels = batch
        return F.cross_entropy(self.model(inputs), labels)

    def fit(self, run, batches):
        for batch in batches:
            def closure(batch=batch):
                loss = self.training_step(batch)
                self.optimizer.zero_grad()
                loss.backward()
                return loss

            self.optimizer.step(closure)
            run.tick()


class TrainerLike:
    """The loop of Hugging Face's Trainer: inputs are prepared, gradients accumulated and clipped, callbacks called."""

    def __init__(self, model, optimizer, accumulate=1):
        self.model = model
        self.optimizer = optimizer
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)
        self.accumulate = accumulate
        self.logged = []

    def training_step(self, inputs):
        self.model.train()
        loss = F.cross_entropy(self.model(inputs["pixel_values"]), inputs["labels"]) / self.accumulate
        loss.backward()
        return loss.detach()

    def train(self, run, batches):
        total = torch.tensor(0.0)
        for number, (pixels, labels) in enumerate(batches, 1):
            total += self.training_step({"pixel_values": pixels, "labels": labels})
            if number % self.accumulate == 0:
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                self.scheduler.step()
                self.model.zero_grad()
                run.tick()
                if len(run.clock) % 10 == 0:
                    self.logged.append({"loss": total.item(), "lr": self.scheduler.get_last_lr()[0]})


def lightning(run):
    """A Lightning loop with AdamW and a slow transform."""
    model = network()
    batches = pictures(run, SLOW if run.planted else None, num_workers=run.workers(0))
    LightningLike(model, torch.optim.AdamW(model.parameters())).fit(run, batches)


def lightning_healthy(run):
    """A Lightning loop with plain SGD: all the work is in training_step."""
    model = network()
    LightningLike(model, torch.optim.SGD(model.parameters(), lr=0.01)).fit(run, in_memory(run))


def trainer(run):
    """A Trainer loop with a slow transform."""
    model = network()
    batches = pictures(run, SLOW if run.planted else None, num_workers=run.workers(0))
    TrainerLike(model, torch.optim.AdamW(model.parameters())).train(run, batches)


def trainer_healthy(run):
    model = network()
    TrainerLike(model, torch.optim.AdamW(model.parameters())).train(run, in_memory(run))


def lbfgs(run):
    """LBFGS calls its closure several times in a step."""
    model = network(16)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.01, max_iter=4, history_size=3)
    for inputs, labels in in_memory(run, 8):
        def closure():
            optimizer.zero_grad()
            loss = F.cross_entropy(model(inputs), labels)
            loss.backward()
            return loss

        optimizer.step(closure)
        run.tick()


def accumulation(run):
    """Four batches are accumulated for a step; their transform is slow."""
    accumulate(run, Blur(20) if run.planted else None, workers=run.workers(0))


def accumulation_healthy(run):
    accumulate(run, None, workers=1, width=96)


def accumulate(run, transform, workers, width=24):
    model = network(width)
    data = Pictures(4 * BATCH * run.steps, transform)
    batches = torch.utils.data.DataLoader(data, BATCH, num_workers=workers)
    TrainerLike(model, sgd(model), accumulate=4).train(run, batches)


def gan(run):
    """A generator and a discriminator, each with its optimizer; real pictures have a slow transform."""
    adversaries(run, pictures(run, SLOW if run.planted else None, num_workers=run.workers(0)))


def gan_healthy(run):
    adversaries(run, in_memory(run))


def adversaries(run, batches):
    torch.manual_seed(3)
    generator = nn.Sequential(
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.Upsample(scale_factor=4), nn.Conv2d(16, 3, 3, padding=1), nn.Sigmoid())
    discriminator = network(16)[:-1].append(nn.Linear(1024, 1))
    makes = torch.optim.SGD(generator.parameters(), lr=0.01)
    judges = torch.optim.SGD(discriminator.parameters(), lr=0.01)
    loss_of = nn.BCEWithLogitsLoss()
    real_labels, fake_labels = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)
    for real, _ in batches:
        fake = generator(torch.rand(BATCH, 8, 8, 8))
        judges.zero_grad()
        (loss_of(discriminator(real), real_labels) + loss_of(discriminator(fake.detach()), fake_labels)).backward()
        judges.step()
        makes.zero_grad()
        loss_of(discriminator(fake), real_labels).backward()
        makes.step()
        run.tick()


def adam_loop(run):
    """Adam goes through hundreds of small parameters one by one."""
    torch.manual_seed(4)
    model = nn.Sequential(*[nn.Linear(48, 48) for _ in range(150)])
    options = {} if run.planted and not run.advice else {"fused": True}
    optimizer = torch.optim.Adam(model.parameters(), foreach=False if run.planted and not run.advice else None, **options)
    for _ in range(run.steps):
        optimizer.zero_grad()
        model(torch.rand(32, 48)).sum().backward()
        optimizer.step()
        run.tick()


def compiled(run):
    """Healthy: the model is compiled before the first step."""
    fit(run, in_memory(run), torch.compile(network()))


def compiled_transform(run):
    """A compiled model waits for a slow transform."""
    batches = pictures(run, SLOW if run.planted else None, num_workers=run.workers(0))
    fit(run, batches, torch.compile(network()))


def recompiled(run):
    """Each 40 steps a batch has another length, and a model of static shapes is compiled again."""
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 10))
    compiled_model = torch.compile(model, dynamic=bool(run.advice))
    optimizer = sgd(model)
    inputs, labels = torch.rand(256, 512), torch.arange(256) % 10
    for step in range(run.steps):
        size = 256 - step // 40 if run.planted else 256
        optimizer.zero_grad()
        F.cross_entropy(compiled_model(inputs[:size]), labels[:size]).backward()
        optimizer.step()
        run.tick()
