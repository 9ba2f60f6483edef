# SPDX-License-Identifier: Apache-2.0
"""Data types in which CPUs compute slowly."""

import torch

from training import BATCH, fit, network


def batches(run, dtype):
    inputs, labels = torch.rand(BATCH, 3, 32, 32, dtype=dtype), torch.arange(BATCH) % 10
    for _ in range(run.steps):
        yield inputs, labels


def half_precision(run):
    """Mixed precision as for a GPU, on a CPU that has no instructions for float16."""
    torch.set_num_threads(1)
    with torch.autocast("cpu", dtype=torch.float16, enabled=run.planted):
        fit(run, batches(run, torch.float32))


def double_precision(run):
    """Inputs as they come from NumPy, and a model that was made to fit them."""
    torch.set_num_threads(1)
    dtype = torch.float64 if run.planted else torch.float32
    fit(run, batches(run, dtype), network(48).to(dtype))
