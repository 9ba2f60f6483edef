# SPDX-License-Identifier: Apache-2.0
"""Backward passes and operators of which every second one throws; the program catches that and goes on."""

import torch


class Throws(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("in backward")


caught = 0
for _ in range(10):
    x = torch.ones(4, requires_grad=True)
    (2 * x).sum().backward()
    try:
        Throws.apply(x).sum().backward()
    except ValueError:
        caught += 1
    torch.mm(torch.ones(2, 3), torch.ones(3, 2))
    try:
        torch.mm(torch.ones(2, 3), torch.ones(2, 3))
    except RuntimeError:
        caught += 1
print("caught", caught)
