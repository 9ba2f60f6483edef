# SPDX-License-Identifier: Apache-2.0
"""Runs one of the real jobs of jobs.json, each with one cause that makes it slow, or healthy.

    python3 job.py --list
    python3 job.py NAME [--without] [--advice [--num-workers N]] [--as-it-comes] [--steps N] [--truth FILE]

A job trains for some seconds, keeps its own clock, and knows nothing of a recorder. `--without` runs it without its cause,
`--advice` with what a finding advises, where that is mechanical: with as many workers as it names, where it names some. malloc
keeps memory that is freed, but in `heap` and with `--as-it-comes`. What it measured is written as JSON: pids, cause, steps, and in
milliseconds mean_ms, p50_ms, min_ms and all of step_ms, the first steps left out.
"""

import argparse
import importlib
import json
import os
import sys
import tempfile
import time

from clock import Run, keep_memory

HERE = os.path.dirname(os.path.abspath(__file__))


def jobs():
    with open(os.path.join(HERE, "jobs.json")) as file:
        return json.load(file)["jobs"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--without", action="store_true")
    parser.add_argument("--advice", action="store_true")
    parser.add_argument("--num-workers", type=int, default=0)
    parser.add_argument("--as-it-comes", action="store_true")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--truth")
    options = parser.parse_args()
    if not options.list and not options.name:
        parser.error("the name of a job is missing; --list tells them")
    return options


def main():
    options = arguments()
    if options.list:
        for job in jobs():
            print(f"{job['name']:22} {job['planted']}")
        return
    job = next((one for one in jobs() if one["name"] == options.name), None)
    if job is None:
        sys.exit(f"job.py: running '{options.name}': no such job; --list tells them")
    if options.advice and not job["advice"]:
        sys.exit(f"job.py: running '{options.name}' with advice: the advice for it is not mechanical")
    if (options.num_workers > 0) != (options.advice and needs_workers(job)):
        sys.exit(f"job.py: running '{options.name}': --num-workers belongs to --advice, where that names workers")
    # Not in /tmp, which may be memory.
    with tempfile.TemporaryDirectory(prefix="real-job-", dir="/var/tmp") as folder:
        truth = run(job, options, folder)
    text = json.dumps(truth)
    if options.truth:
        with open(options.truth, "w") as file:
            print(text, file=file)
    else:
        print(text)


def needs_workers(job):
    """Whether its advice names a number of workers."""
    return "num_workers" in (job["advice"] or {"says": ""})["says"]


def run(job, options, folder):
    began = time.perf_counter()
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "inductor")
    if job["room"] == "plain":
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
    else:
        import torch

        torch.set_num_threads(1)
    # What malloc gives back would be a second cause in each.
    keeps_memory = not (options.as_it_comes or job.get("gives_memory_back"))
    if keeps_memory:
        keep_memory()
    this = Run(options.steps or job["steps"], folder, options.without, options.advice, options.num_workers, keeps_memory)
    room = importlib.import_module(job["room"])
    getattr(room, job["name"].replace("-", "_"))(this)
    cause = None if options.without or job["healthy"] else job["planted"]
    return {"name": job["name"], "cause": cause, "wall_s": time.perf_counter() - began, **this.truth()}


if __name__ == "__main__":
    main()
