#!/usr/bin/env python3
"""How fast BERT trains as several ranks on this machine, and what of their communication costs time.

usage: bert_ranks.py --bert PROGRAM --model FOLDER --train FILE --dev FILE [--ranks 1,2,4] [--link MBIT] [ARGUMENT ...]

Trains some steps with each number of ranks, always with the same global batch, and prints a table in Markdown: sequences
a second, that against one process with all processors, for how long gradients travel in a step, which part of that the
backward pass hides, and the bits a second at which they travel. With --link each rank has a network namespace of its own,
and what it sends and gets goes through a token bucket of so many Mbit/s; what such a link carries is measured first. That
takes root's rights, and ip and tc of iproute2. Further arguments go to `bert train-spans`.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from typing import Iterator, Optional

# Reads or writes for so many seconds what a link carries: the arguments are the side, an address and seconds.
STREAM = """
import socket, sys, time
side, address, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
if side == "read":
    listener = socket.create_server((address, 7001))
    print("listens", flush=True)
    peer, total, begin = listener.accept()[0], 0, None
    while data := peer.recv(1 << 20):
        begin = begin or time.monotonic()
        total += len(data)
    print(total * 8e-6 / (time.monotonic() - begin))
else:
    peer, block, end = socket.create_connection((address, 7001)), bytes(1 << 20), time.monotonic() + seconds
    while time.monotonic() < end:
        peer.sendall(block)
"""
SECONDS_OF_STREAM = 5
BURST = "256kb"  # of the bucket: as much as a card sends at once


@dataclasses.dataclass
class Place:
    """Where a rank runs, and how it is found."""

    prefix: list[str]
    address: str
    variables: dict[str, str]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


class Network:
    """Namespaces on one bridge, each behind a link of so many Mbit/s in both directions."""

    def __init__(self, ranks: int, mbit: int) -> None:
        self.ranks, self.mbit = ranks, mbit
        self.name = f"tw{os.getpid() % 100000}"  # of the bridge; that of a link is longer, and may have 15 letters

    def __enter__(self) -> list[Place]:
        try:
            ip("link", "add", self.name, "type", "bridge")
            ip("link", "set", self.name, "up")
            for rank in range(self.ranks):
                self.add(rank)
        except BaseException:
            self.remove()
            raise
        return [self.place(rank) for rank in range(self.ranks)]

    def __exit__(self, *_: object) -> None:
        self.remove()

    def place(self, rank: int) -> Place:
        return Place(["ip", "netns", "exec", f"{self.name}n{rank}"], f"10.213.71.{rank + 1}", {"GLOO_SOCKET_IFNAME": "eth0"})

    def add(self, rank: int) -> None:
        space, link = f"{self.name}n{rank}", f"{self.name}v{rank}"
        ip("netns", "add", space)
        ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
        ip("link", "set", link, "master", self.name, "up")
        inside = ["ip", "netns", "exec", space]
        for words in (["ip", "addr", "add", f"{self.place(rank).address}/24", "dev", "eth0"],
                      ["ip", "link", "set", "eth0", "up"], ["ip", "link", "set", "lo", "up"]):  # fmt: skip
            subprocess.run(inside + words, check=True)
        bucket = ["root", "tbf", "rate", f"{self.mbit}mbit", "burst", BURST, "latency", "50ms"]
        subprocess.run(["tc", "qdisc", "add", "dev", link, *bucket], check=True)
        subprocess.run(inside + ["tc", "qdisc", "add", "dev", "eth0", *bucket], check=True)

    def remove(self) -> None:
        for rank in range(self.ranks):
            subprocess.run(["ip", "netns", "del", f"{self.name}n{rank}"], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["ip", "link", "del", self.name], check=False, stderr=subprocess.DEVNULL)


def this_machine(ranks: int) -> contextlib.AbstractContextManager[list[Place]]:
    return contextlib.nullcontext([Place([], "127.0.0.1", {}) for _ in range(ranks)])


def rate_of_ring(places: list[Place]) -> float:
    """Mbit/s that each link carries when each rank sends to the next: the least of all."""

    def start(place: Place, side: str, address: str) -> subprocess.Popen[str]:
        words = [*place.prefix, sys.executable, "-c", STREAM, side, address, str(SECONDS_OF_STREAM)]
        return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)

    readers = [start(place, "read", place.address) for place in places]
    for reader in readers:
        reader.stdout.readline()
    writers = [start(place, "write", places[(rank + 1) % len(places)].address) for rank, place in enumerate(places)]
    for writer in writers:
        if writer.wait() != 0:
            raise SystemExit("what the links carry cannot be measured")
    return min(float(reader.communicate()[0]) for reader in readers)


def free_port() -> int:
    with socket.create_server(("", 0)) as listener:
        return listener.getsockname()[1]


def train(command: list[str], places: list[Place], threads: int, out: pathlib.Path) -> dict[str, object]:
    """result.json of a training by so many ranks."""
    ranks = []
    for rank, place in enumerate(places):
        variables = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": len(places), "MASTER_ADDR": places[0].address,
                     "MASTER_PORT": 29471 if place.prefix else 0, "OMP_NUM_THREADS": threads, **place.variables}  # fmt: skip
        ranks.append({name: str(value) for name, value in variables.items()})
    if not places[0].prefix:
        port = str(free_port())
        for variables in ranks:
            variables["MASTER_PORT"] = port
    log = open(out.parent / "log", "w+")  # pylint: disable=consider-using-with # all ranks write it
    started = [subprocess.Popen([*place.prefix, *command, "--out", str(out)], stdout=log, stderr=log,
                                env={**os.environ, **variables})  # fmt: skip
               for place, variables in zip(places, ranks)]  # fmt: skip
    codes = [process.wait() for process in started]
    log.seek(0)
    if any(codes):
        raise SystemExit(f"ranks ended with {codes}:\n{log.read()[-2000:]}")
    log.close()
    return json.loads((out / "result.json").read_text())


@dataclasses.dataclass
class Row:
    ranks: int
    threads: int
    steps: int
    result: dict

    def gradients(self, what: str) -> float:
        return self.result.get("gradients", {}).get(what, 0)

    def rate(self) -> float:
        return self.result["train_windows_per_second"]

    def travelled(self) -> float:
        return self.gradients("travelled_seconds") / self.steps

    def text(self, alone: Optional["Row"], carried: Optional[float]) -> str:
        cells = [str(self.ranks), str(self.threads), f"{self.rate():.2f}", f"{self.result['train_seconds'] / self.steps:.2f} s"]
        cells.append(f"{100 * self.rate() / alone.rate():.0f} %" if alone else "")
        if self.ranks == 1:
            return " | ".join([*cells, "", "", "", ""])
        travelled = self.gradients("travelled_seconds")
        mbit = self.gradients("wire_bytes") * 8e-6 / travelled
        cells += [f"{self.gradients('wire_bytes') / self.steps / 1e6:.0f} MB", f"{self.travelled():.2f} s",
                  f"{100 * self.gradients('hidden_seconds') / travelled:.0f} %"]  # fmt: skip
        cells.append(f"{mbit:.0f} Mbit/s" + (f", {100 * mbit / carried:.0f} %" if carried else ""))
        return " | ".join(cells)


def measure(options: argparse.Namespace, scratch: pathlib.Path) -> Iterator[str]:
    yield "| ranks | threads of each | sequences/s | step | of one process | a rank sends | travels | hidden | at |"
    yield "|---|---|---|---|---|---|---|---|---|"
    alone: Optional[Row] = None
    for ranks in options.ranks:
        threads = max(1, (os.cpu_count() or 1) // ranks)
        has_link = options.link and ranks > 1
        with Network(ranks, options.link) if has_link else this_machine(ranks) as places:
            carried = rate_of_ring(places) if has_link else None
            if carried:
                print(f"a link carries {carried:.0f} Mbit/s", file=sys.stderr)
            share = max(1, options.global_batch // ranks)
            command = [options.bert, "train-spans", "--model", options.model, "--train", options.train, "--dev", options.dev,
                       "--train-size", str(4 * options.steps * options.global_batch), "--dev-size", "1", "--eval-interval", "1000000",
                       "--checkpoint-interval", "0", "--look-at", "0", "--no-hook", "--global-batch", str(options.global_batch),
                       "--batch-size", str(share), "--max-steps", str(options.steps), *options.arguments]  # fmt: skip
            folder = scratch / str(ranks)
            folder.mkdir()
            row = Row(ranks, threads, options.steps, train(command, places, threads, folder / "out"))
        alone = alone or (row if ranks == 1 else None)
        yield f"| {row.text(alone, carried)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--bert", required=True, help="the program")
    parser.add_argument("--model", required=True, help="its folder")
    parser.add_argument("--train", required=True, help="file of questions")
    parser.add_argument("--dev", required=True, help="file of questions")
    parser.add_argument("--ranks", default="1,2,4", type=lambda text: [int(number) for number in text.split(",")])
    parser.add_argument("--steps", default=8, type=int)
    parser.add_argument("--global-batch", default=16, type=int)
    parser.add_argument("--link", default=0, type=int, metavar="MBIT", help="of each rank, in both directions")
    options, options.arguments = parser.parse_known_args()
    if options.link and (os.geteuid() != 0 or not shutil.which("tc")):
        print("bert_ranks.py: --link needs root's rights, and ip and tc of iproute2", file=sys.stderr)
        return 2
    print(time.strftime("On %Y-%m-%d, ") + f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} before")
    with tempfile.TemporaryDirectory() as scratch:
        for line in measure(options, pathlib.Path(scratch)):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
