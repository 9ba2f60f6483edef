# SPDX-License-Identifier: Apache-2.0
"""Runs jobs of jobs.json one after another, each recorded; and unrecorded, twice without its cause, and with the advice applied.

    python3 record.py FOLDER [NAME ...] [--recorded-only | --num-workers=N] [-- RECORDER ...]

RECORDER is the command that records, `zernel-record` if none is given. In FOLDER are afterwards, for each job, NAME.parquet and
NAME.truth.json of the recorded run, and NAME.unrecorded.json, NAME.without.json, NAME.without-again.json and NAME.advice.json of
the others; a healthy job only runs recorded. Where the advice names a number of workers, it runs only with --num-workers. What is
there already is not run again. Ends with 1 where a job or the recorder failed; its output is in NAME.log.
"""

import os
import signal
import subprocess
import sys
import time

from job import HERE, jobs, needs_workers

LIMIT_S = 300


def main():
    arguments, recorder = sys.argv[1:], ["zernel-record"]
    if "--" in arguments:
        end = arguments.index("--")
        arguments, recorder = arguments[:end], arguments[end + 1:]
    whole = "--recorded-only" not in arguments
    workers = [argument for argument in arguments if argument.startswith("--num-workers=")]
    folder, *names = [argument for argument in arguments if argument not in ["--recorded-only", *workers]] or sys.exit(__doc__)
    os.makedirs(folder, exist_ok=True)
    known = {job["name"]: job for job in jobs()}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"record.py: running '{unknown[0]}': no such job; job.py --list tells them")
    failed = [name for name in names or known if not run(folder, known[name], recorder, whole, workers)]
    if failed:
        sys.exit(f"record.py: running {', '.join(failed)}: failed, see the logs in {folder}")


def run(folder, job, recorder, whole, workers):
    path = os.path.join(folder, job["name"])
    began = time.monotonic()
    right = command(path, job, "truth", [*recorder, "-o", f"{path}.parquet", "--quiet", "--"], [])
    if whole:
        if not job["healthy"]:
            right &= command(path, job, "without", [], ["--without"])
            right &= command(path, job, "unrecorded", [], [])
        if job["advice"] and (workers or not needs_workers(job)):
            right &= command(path, job, "advice", [], ["--advice", *(workers if needs_workers(job) else [])])
        if not job["healthy"]:
            right &= command(path, job, "without-again", [], ["--without"])
    print(f"{job['name']}: {'done' if right else 'failed'} in {time.monotonic() - began:.0f} s", flush=True)
    return right


def command(path, job, what, before, options):
    truth = f"{path}.{what}.json"
    if os.path.exists(truth):
        return True
    words = [*before, sys.executable, os.path.join(HERE, "job.py"), job["name"], *options, "--truth", truth + ".part"]
    with open(f"{path}.log", "a") as log:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            status = process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the job too
            process.wait()
            status = f"none after {LIMIT_S} s"
        if status == 0:
            os.replace(truth + ".part", truth)
        else:
            print(f"status {status}: {' '.join(words)}", file=log)
    return status == 0


if __name__ == "__main__":
    main()
