"""A small PyTorch training with one deliberate flaw: its one data worker cannot keep up with a slow store.

It knows nothing of Zernel. At the end it says what it measured itself, to compare the report with.
"""
import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

STEPS = 100
BATCH = 4


class Images(Dataset):
    """Random pictures from a store that takes its time, as one across a network does."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.rand(3, 64, 64), index % 10


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--sample-ms", type=float, default=6.0)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    images = Images(options.sample_ms / 1000)
    batches = iter(DataLoader(images, batch_size=BATCH, num_workers=options.workers))

    begin = time.perf_counter()
    waited = 0.0
    loss = torch.zeros(())
    for _ in range(STEPS):
        asked = time.perf_counter()
        images, labels = next(batches)
        waited += time.perf_counter() - asked
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
    seconds = time.perf_counter() - begin
    print(
        f"demo_train.py measured itself: {STEPS} steps in {seconds:.2f} s, "
        f"{waited:.2f} s of it waiting for data ({100 * waited / seconds:.0f} %), last loss {loss.item():.3f}"
    )


if __name__ == "__main__":
    main()
