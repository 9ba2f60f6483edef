"""A small PyTorch training with one deliberate flaw: its two data workers cannot keep up.

It knows nothing of Zernel. At the end it says what it measured itself, to compare the report with.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

STEPS = 100
BATCH = 4
TRANSFORM_SECONDS = 0.010


class Images(Dataset):
    """Random pictures behind an expensive augmentation."""

    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, index):
        image = torch.rand(3, 64, 64)
        until = time.perf_counter() + TRANSFORM_SECONDS
        while time.perf_counter() < until:  # busy on a CPU, as a real augmentation is
            image = nn.functional.avg_pool2d(image, 3, stride=1, padding=1)
        return image, index % 10


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batches = iter(DataLoader(Images(), batch_size=BATCH, num_workers=2))

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
