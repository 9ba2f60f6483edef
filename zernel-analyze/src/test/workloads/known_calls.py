# SPDX-License-Identifier: Apache-2.0
"""Calls that have a faster way, each beside it, for the view `known_calls`.

    python3 known_calls.py           how many times as long each call takes as what is said to be faster
    python3 known_calls.py --stacks  stacks of each, outermost frame first, as a recording has them: JSON, one in a line

What is not installed is left out.
"""

import argparse
import bz2
import copy
import dataclasses
import datetime
import difflib
import fractions
import glob
import gzip
import importlib.util
import inspect
import io
import json
import lzma
import os
import pathlib
import pickle
import random
import re
import signal
import ssl
import statistics
import subprocess
import sys
import tempfile
import time

CASES = {}


def case(call, *packages):
    """A function that returns the slow way and the faster one; None where there is none to compare with."""

    def add(make):
        if all(importlib.util.find_spec(package) for package in packages):
            CASES[call] = make

    return add


@dataclasses.dataclass
class Item:
    name: str
    values: list


CONFIG = {f"layer{i}": {"sizes": list(range(20)), "names": [str(j) for j in range(20)]} for i in range(50)}
NUMBERS = [i / 7 for i in range(20_000)]
TEXT = json.dumps(CONFIG).encode() * 4


@case("copy.deepcopy")
def _():
    return lambda: copy.deepcopy(CONFIG), lambda: {**CONFIG, "layer1": {}}


@case("dataclasses.asdict")
def _():
    items = [Item(str(i), list(range(20))) for i in range(500)]
    return lambda: [dataclasses.asdict(item) for item in items], lambda: [vars(item) for item in items]


@case("json's encoder in Python")
def _():
    return lambda: json.dump(CONFIG, io.StringIO()), lambda: io.StringIO().write(json.dumps(CONFIG))


@case("json.dumps", "numpy")
def _():
    import numpy

    array = numpy.array(NUMBERS)
    return lambda: json.dumps(NUMBERS), lambda: array.tobytes()


@case("json.loads", "numpy")
def _():
    import numpy

    text, data = json.dumps(NUMBERS), numpy.array(NUMBERS).tobytes()
    return lambda: json.loads(text), lambda: numpy.frombuffer(data)


@case("gzip, writing")
def _():
    def write(**options):
        with gzip.open(io.BytesIO(), "wb", **options) as file:
            for _ in range(20):
                file.write(TEXT)

    return write, lambda: write(compresslevel=1)


@case("gzip, reading")
def _():
    packed = gzip.compress(TEXT * 50)
    return lambda: gzip.open(io.BytesIO(packed)).read(), lambda: io.BytesIO(TEXT * 50).read()


@case("bz2")
def _():
    return lambda: bz2.compress(TEXT), lambda: gzip.compress(TEXT, 6)


@case("lzma")
def _():
    return lambda: lzma.compress(TEXT), lambda: gzip.compress(TEXT, 6)


@case("random", "numpy")
def _():
    import numpy

    numbers, generator = list(range(20_000)), numpy.random.default_rng()
    return lambda: random.shuffle(numbers), lambda: generator.permutation(20_000)


@case("statistics", "numpy")
def _():
    import numpy

    array = numpy.array(NUMBERS)
    return lambda: statistics.mean(NUMBERS), lambda: array.mean()


@case("fractions.Fraction")
def _():
    parts = [fractions.Fraction(1, i) for i in range(1, 200)]
    floats = [1 / i for i in range(1, 200)]
    return lambda: sum(parts), lambda: sum(floats)


@case("datetime.strptime")
def _():
    return (
        lambda: [datetime.datetime.strptime("2026-11-29", "%Y-%m-%d") for _ in range(500)],
        lambda: [datetime.datetime.fromisoformat("2026-11-29") for _ in range(500)],
    )


@case("inspect.stack")
def _():
    return lambda: inspect.stack()[1].function, lambda: sys._getframe(1).f_code.co_name


@case("re.compile")
def _():
    patterns = [re.compile(rf"(\w+)-{i}\s*(\d+)") for i in range(50)]

    def anew():
        re.purge()
        return [re.match(rf"(\w+)-{i}\s*(\d+)", "a-1 2") for i in range(50)]

    return anew, lambda: [pattern.match("a-1 2") for pattern in patterns]


@case("difflib")
def _():
    return lambda: difflib.SequenceMatcher(None, "kitten" * 30, "sitting" * 30).ratio(), None


@case("pickle in Python")
def _():
    return lambda: pickle._dumps(CONFIG), lambda: pickle.dumps(CONFIG)


@case("subprocess")
def _():
    return lambda: subprocess.run(["true"], check=True, capture_output=True), None


@case("glob")
def _():
    folder = os.path.dirname(os.__file__)
    kept = glob.glob(folder + "/*/*.py")
    return lambda: glob.glob(folder + "/*/*.py"), lambda: list(kept)


@case("os.walk")
def _():
    folder = os.path.dirname(json.__file__)
    kept = list(os.walk(folder))
    return lambda: list(os.walk(folder)), lambda: list(kept)


@case("Path.glob")
def _():
    folder = pathlib.Path(os.path.dirname(os.__file__)) / "email"
    kept = list(folder.rglob("*.py"))
    return lambda: list(folder.rglob("*.py")), lambda: list(kept)


@case("a new SSL context")
def _():
    context = ssl.create_default_context()
    return ssl.create_default_context, lambda: context


@case("yaml.load", "yaml")
def _():
    import yaml

    text = yaml.dump(CONFIG)
    return lambda: yaml.safe_load(text), lambda: yaml.load(text, Loader=yaml.CSafeLoader)


@case("yaml.dump", "yaml")
def _():
    import yaml

    return lambda: yaml.safe_dump(CONFIG), lambda: yaml.dump(CONFIG, Dumper=yaml.CSafeDumper)


@case("access to OmegaConf", "omegaconf")
def _():
    import omegaconf

    slow = omegaconf.OmegaConf.create({"model": {"size": 3}})
    fast = omegaconf.OmegaConf.to_container(slow)
    return lambda: [slow.model.size for _ in range(1000)], lambda: [fast["model"]["size"] for _ in range(1000)]


@case("numpy.append and the like", "numpy")
def _():
    import numpy

    def grow():
        array = numpy.empty(0)
        for i in range(2000):
            array = numpy.append(array, i)

    return grow, lambda: numpy.array([i for i in range(2000)])


@case("numpy.vectorize", "numpy")
def _():
    import numpy

    array, each = numpy.array(NUMBERS), numpy.vectorize(abs)
    return lambda: each(array), lambda: numpy.abs(array)


@case("numpy.apply_along_axis", "numpy")
def _():
    import numpy

    array = numpy.array(NUMBERS).reshape(-1, 4)
    return lambda: numpy.apply_along_axis(numpy.sum, 1, array), lambda: array.sum(axis=1)


@case("text files by NumPy", "numpy")
def _():
    import numpy

    array, data = numpy.array(NUMBERS), io.BytesIO()
    numpy.save(data, array)
    return lambda: numpy.savetxt(io.StringIO(), array), lambda: numpy.save(io.BytesIO(), array)


@case("numpy.savez_compressed", "numpy")
def _():
    import numpy

    array = numpy.array(NUMBERS * 10)
    return lambda: numpy.savez_compressed(io.BytesIO(), array), lambda: numpy.savez(io.BytesIO(), array)


@case("DataFrame.iterrows", "pandas")
def _():
    import pandas

    frame = pandas.DataFrame({"a": range(2000), "b": range(2000)})
    return lambda: sum(row["a"] for _, row in frame.iterrows()), lambda: sum(row.a for row in frame.itertuples())


@case("apply(axis=1)", "pandas")
def _():
    import pandas

    frame = pandas.DataFrame({"a": range(2000), "b": range(2000)})
    return lambda: frame.apply(max, axis=1), lambda: frame.max(axis=1)


@case("pandas.concat", "pandas")
def _():
    import pandas

    rows = [pandas.DataFrame({"a": [i], "b": [i]}) for i in range(200)]

    def grow():
        frame = rows[0]
        for row in rows[1:]:
            frame = pandas.concat([frame, row])

    return grow, lambda: pandas.concat(rows)


@case("loc, iloc and at", "pandas")
def _():
    import pandas

    frame = pandas.DataFrame({"a": range(2000), "b": range(2000)})
    return lambda: sum(frame.loc[i, "a"] for i in range(2000)), lambda: sum(frame["a"].to_numpy())


@case("read_csv in Python", "pandas")
def _():
    import pandas

    text = "a,b\n" + "1,2\n" * 5000
    return lambda: pandas.read_csv(io.StringIO(text), engine="python"), lambda: pandas.read_csv(io.StringIO(text))


@case("rows of polars as Python objects", "polars")
def _():
    import polars

    frame = polars.DataFrame({"a": range(20_000), "b": range(20_000)})
    return lambda: sum(row[0] for row in frame.iter_rows(buffer_size=1)), lambda: frame["a"].sum()


@case("Expr.map_elements", "polars")
def _():
    import polars

    frame = polars.DataFrame({"a": range(20_000)})
    return (
        lambda: frame.select(polars.col("a").map_elements(abs, return_dtype=polars.Int64)),
        lambda: frame.select(polars.col("a").abs()),
    )


@case("iterating over a tensor", "torch")
def _():
    import torch

    tensor = torch.rand(2000)
    return lambda: [float(value) for value in tensor], tensor.tolist


@case("loading item by item", "torch")
def _():
    import torch
    from torch.utils.data import BatchSampler, DataLoader, SequentialSampler, TensorDataset

    rows = TensorDataset(torch.rand(4096, 16), torch.rand(4096))
    batches = BatchSampler(SequentialSampler(rows), 256, False)
    return lambda: list(DataLoader(rows, 256)), lambda: list(DataLoader(rows, batch_size=None, sampler=batches))


@case("cells of recurrent layers", "torch")
def _():
    import torch

    cell, layer, sequence = torch.nn.LSTMCell(32, 32), torch.nn.LSTM(32, 32), torch.rand(200, 8, 32)

    def each():
        state = None
        for step in sequence:
            state = cell(step, state)

    return each, lambda: layer(sequence)


@case("tensors as text", "torch")
def _():
    import torch

    tensor = torch.rand(30, 30)
    return lambda: str(tensor), lambda: str(tensor.mean().item())


@case("torch.distributions, which checks its arguments", "torch")
def _():
    import torch

    mean, scale = torch.zeros(64), torch.ones(64)

    def sample(**options):
        return [torch.distributions.Normal(mean, scale, **options).log_prob(mean) for _ in range(50)]

    return sample, lambda: sample(validate_args=False)


@case("histograms for TensorBoard", "torch", "tensorboard")
def _():
    import torch
    from torch.utils.tensorboard import SummaryWriter

    writer, values = SummaryWriter(tempfile.mkdtemp()), torch.rand(100_000)
    return lambda: writer.add_histogram("a", values, 1), lambda: writer.add_scalar("a", values.mean(), 1)


@case("metrics of scikit-learn", "sklearn", "numpy")
def _():
    import numpy
    from sklearn.metrics import roc_auc_score

    clicked, scores = numpy.arange(2000) % 2, numpy.random.rand(2000)
    batches = [(clicked[i : i + 10], scores[i : i + 10]) for i in range(0, 2000, 10)]
    return lambda: [roc_auc_score(*batch) for batch in batches], lambda: roc_auc_score(clicked, scores)


@case("matplotlib", "matplotlib")
def _():
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    def draw():
        figure, axes = pyplot.subplots()
        axes.plot(range(100))
        figure.savefig(io.BytesIO())
        pyplot.close(figure)

    return draw, None


@case("scikit-learn's checks of its input", "sklearn", "numpy")
def _():
    import numpy
    from sklearn.linear_model import LinearRegression

    rows = numpy.random.rand(200, 4)
    model = LinearRegression().fit(rows, rows[:, 0])
    return lambda: [model.predict(row[None]) for row in rows], lambda: model.predict(rows)


@case("decoding images", "PIL", "numpy")
def _():
    from PIL import Image

    data = io.BytesIO()
    Image.effect_noise((1024, 1024), 50).convert("RGB").save(data, "jpeg")

    def decode(draft):
        image = Image.open(io.BytesIO(data.getvalue()))
        if draft:
            image.draft("RGB", (256, 256))
        image.load()

    return lambda: decode(False), lambda: decode(True)


@case("HDF5", "h5py", "numpy")
def _():
    import h5py
    import numpy

    rows = h5py.File("rows", "w", driver="core", backing_store=False).create_dataset("rows", data=numpy.random.rand(1000, 8))
    return lambda: [rows[i] for i in range(1000)], lambda: rows[:1000]


@case("networkx", "networkx")
def _():
    import networkx

    graph = networkx.gnm_random_graph(500, 2000, seed=1)
    return lambda: networkx.closeness_centrality(graph), None


@case("nltk", "nltk")
def _():
    import nltk

    return lambda: nltk.edit_distance("kitten" * 10, "sitting" * 10), None


def seconds(function, least=0.2):
    """The best of some calls."""
    best, until = float("inf"), time.perf_counter() + least
    while time.perf_counter() < until:
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
    return best


def text(frame):
    """A stack as a recording has it."""
    frames = []
    while frame is not None:
        frames.append(f"{frame.f_code.co_qualname} ({frame.f_code.co_filename}:{frame.f_lineno})")
        frame = frame.f_back
    return ";".join(reversed(frames))


def stacks(function, least=0.2):
    """Stacks of the main thread while it runs a function, each with how often it was found."""
    found = {}

    def sample(_, frame):
        taken = text(frame)
        found[taken] = found.get(taken, 0) + 1

    signal.signal(signal.SIGALRM, sample)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    until = time.perf_counter() + least
    while time.perf_counter() < until:
        function()
    signal.setitimer(signal.ITIMER_REAL, 0)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stacks", action="store_true", help="print stacks instead of times")
    arguments = parser.parse_args()
    for call, make in CASES.items():
        slow, fast = make()
        slow()
        if arguments.stacks:
            print(json.dumps({"call": call, "stacks": stacks(slow)}), flush=True)
        elif fast is not None:
            slow_s, fast_s = seconds(slow), seconds(fast)
            print(f"{call:50} {1e3 * slow_s:10.3f} ms {1e3 * fast_s:10.3f} ms {slow_s / fast_s:10.1f}x", flush=True)


main()
