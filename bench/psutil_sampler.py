"""Reads with psutil what the sampler reads, as often: prints seconds of processor time that this takes in some seconds.

Processors at each 100 ms; memory, disks, network and the processes of a tree, each with its times, memory, threads,
switches and bytes, at each fifth of these; nothing is kept or written. The start is not counted.
"""

from __future__ import annotations

import os
import sys
import time

import psutil

TICK_SECONDS = 0.1
SELDOM = 5


def read(tick: int, root: psutil.Process) -> None:
    psutil.cpu_times(percpu=False)
    psutil.cpu_times(percpu=True)
    if tick % SELDOM:
        return
    psutil.virtual_memory()
    psutil.swap_memory()
    psutil.disk_io_counters(perdisk=True)
    psutil.net_io_counters(pernic=True)
    psutil.getloadavg()
    for process in [root, *root.children(recursive=True)]:
        with process.oneshot():
            process.cpu_times()
            process.memory_info()
            process.num_threads()
            process.num_ctx_switches()
            process.io_counters()


def main() -> None:
    seconds = float(sys.argv[1])
    root = psutil.Process(os.getpid())
    for tick in range(SELDOM + 1):
        read(tick, root)
    cpu, start = time.process_time(), time.monotonic()
    for tick in range(round(seconds / TICK_SECONDS)):
        read(tick, root)
        time.sleep(max(0.0, start + (tick + 1) * TICK_SECONDS - time.monotonic()))
    print(time.process_time() - cpu)


if __name__ == "__main__":
    main()
