# SPDX-License-Identifier: Apache-2.0
"""Runs notebooks from top to bottom, each in a kernel of its own, and prints the text of their outputs.

    python3 run_notebook.py NOTEBOOK...
"""

import asyncio
import os
import re
import sys

import nbformat
from nbclient import NotebookClient


class Client(NotebookClient):
    """The Java kernel drops what comes in before all of its ports are bound, and the last one is that for output."""

    async def async_start_new_kernel_client(self):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.km.iopub_port)
                writer.close()
                break
            except OSError:
                if not await self.km.is_alive():
                    raise RuntimeError("the kernel ended at once") from None
                await asyncio.sleep(0.1)
        await asyncio.sleep(0.5)
        return await super().async_start_new_kernel_client()


def executed(path):
    """The Java kernel's threads set what says they shall run after they start (its LoopThread.start): now and then the one
    that answers has ended by then, or all have and with them the kernel; no cell was run, and only a new kernel helps."""
    for attempt in range(5):
        notebook = nbformat.read(path, as_version=4)
        client = Client(
            notebook, timeout=120, startup_timeout=20, resources={"metadata": {"path": os.path.dirname(path)}}
        )
        try:
            return client.execute()
        except RuntimeError as e:
            if not re.match("Kernel didn't respond|Kernel died before|the kernel ended", str(e)) or attempt == 4:
                raise
            print(f"{os.path.basename(path)}: {e}; starting another", file=sys.stderr)


for path in sys.argv[1:]:
    notebook = executed(path)
    images = 0
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        images += "image/png" in output.get("data", {})
        print(output.get("text") or output.get("data", {}).get("text/plain", ""))
    print(f"{os.path.basename(path)}: {images} pictures", flush=True)
