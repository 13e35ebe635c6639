"""The race: the tensors of a training written and read back, by us and by every other format that may hold them.

    race.py --arm RACE_ARM [--package-python PYTHON] [--rivals-python PYTHON] [--formats-python PYTHON] [--load NAME]...
            [--contender NAME]... [--rounds N] [--folder FOLDER] [--json | --markdown | --write FILE] [--tiny]

`./dev rivals` runs it with the Pythons that it has made. The contenders take turns, and begin with another one each
round; a figure is the median of its rounds. Nobody syncs while it writes; what it takes until all is on the medium is measured
apart. All that is read lies in the page cache. A contender that needs very long for a load takes part in one round of it.
What was read is compared with what was written, outside of the measured time. A contender that fails or is
not there is named with the reason, and has no figures.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from loads import POOL_BYTES, TINY_POOL_BYTES, Load, all_loads, save_load, tiny_loads, write_pool
from sessions import ContenderFailed, CppSession, PythonSession, Session
from table import Results, markdown, plain_text

HERE = Path(__file__).resolve().parent
ROUNDS = 3
SLOW_SECONDS = 20.0  # a turn that takes longer is the contender's only one of this load
MARKS = ("<!-- written by ./dev rivals --write -->", "<!-- end -->")
# Which Python has a contender; None: the program in C++. The order is that of the table.
CONTENDERS: dict[str, str | None] = {
    "ours": None,
    "trainwarden": "package",
    "smdebug": "rivals",
    "safetensors": "formats",
    "tensorboard": "formats",
    "hdf5": "formats",
    "zarr": "formats",
    "tiledb": "formats",
    "sqlite": "formats",
    "plain": None,
}
FOR_TESTS = {"broken": "formats"}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--arm", type=Path, required=True, help="the program race_arm")
    for which in ("package", "rivals", "formats"):
        parser.add_argument(f"--{which}-python", default="", help="without it its contenders are left out")
    parser.add_argument("--load", action="append", choices=list(all_loads()), help="only this load; several: them")
    parser.add_argument("--contender", action="append", choices=[*CONTENDERS, *FOR_TESTS], help="only this one; several: them")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--folder", type=Path, default=None, help="where runs are written; default: the system's")
    parser.add_argument("--tiny", action="store_true", help="loads that show only whether it works")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--markdown", action="store_true")
    form.add_argument("--write", type=Path, help="write the tables into this document, between its two marks")
    return parser.parse_args()


def say(text: str) -> None:
    print(f"race: {text}", file=sys.stderr, flush=True)


def warm(folder: Path) -> None:
    """Brings all files into the page cache: who has it given back while it wrote would read from the disk."""
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), "rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass


class Race:
    """The sessions of all contenders, and the places of their runs."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._tiny = options.tiny
        self._folder = folder
        self._pool = folder / "pool"
        self.results = Results()
        self._sessions: dict[str, Session] = {}
        write_pool(self._pool, TINY_POOL_BYTES if options.tiny else POOL_BYTES)
        for name in options.contender or CONTENDERS:
            self._start(name, options)

    def _start(self, name: str, options: argparse.Namespace) -> None:
        which = (CONTENDERS | FOR_TESTS)[name]
        python = getattr(options, f"{which}_python") if which else ""
        if which and not python:
            self._skip(name, f"no --{which}-python")
            return
        try:
            session = PythonSession(name, python, self._pool) if which else CppSession(name, options.arm, self._pool)
        except (ContenderFailed, OSError) as error:
            self._skip(name, str(error))
            return
        self._sessions[name] = session
        self.results.versions[name] = session.version

    def _skip(self, name: str, why: str) -> None:
        say(f"{name} is left out: {why}")
        self.results.skipped[name] = why

    def run(self, load: Load, rounds: int) -> None:
        load_file = self._folder / f"{load.name}.json"
        save_load(load, load_file)
        racing = list(self._sessions)
        figures: dict[tuple[str, str], list[float]] = defaultdict(list)
        slow: set[str] = set()
        for number in range(rounds):
            first = number % max(len(racing), 1)
            for name in racing[first:] + racing[:first]:
                if (name, load.name) in self.results.failures or name in slow:
                    continue
                begin = time.monotonic()
                try:
                    for operation, value in self._turn(self._sessions[name], load, load_file).items():
                        figures[operation, name].append(value)
                except ContenderFailed as error:
                    say(f"{name} failed at the load {load.name}: {error}")
                    self.results.failures[name, load.name] = str(error)
                seconds = time.monotonic() - begin
                say(f"{load.name}: {name}, {seconds:.1f} s")
                if seconds > SLOW_SECONDS:
                    slow.add(name)
        self.results.slow |= {(name, load.name) for name in slow if rounds > 1}
        for (operation, name), values in figures.items():
            if (name, load.name) not in self.results.failures:
                self.results.add(load.name, operation, name, values)

    def _turn(self, session: Session, load: Load, load_file: Path) -> dict[str, float]:
        run = self._folder / "run"
        request: dict[str, Any] = {"load": load.name, "load_file": str(load_file), "folder": str(run)}
        request["tiny"] = self._tiny
        try:
            os.sync()  # what others have left to be written does not count against this one
            figures = session.ask({**request, "work": "write"})
            warm(run)
            figures |= session.ask({**request, "work": "read"})
            self._clear(run)
            figures["live"] = statistics.median(session.live(request, load.steps))
        finally:
            self._clear(run)
        return figures

    def _clear(self, run: Path) -> None:
        shutil.rmtree(run, ignore_errors=True)

    def end(self) -> None:
        for session in self._sessions.values():
            session.end()


def write_into(document: Path, tables: str) -> None:
    """Puts the tables between the two marks."""
    text = document.read_text(encoding="utf-8")
    before, begin, rest = text.partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if not begin or not end:
        sys.exit(f"race: {document} needs a line {MARKS[0]} and behind it a line {MARKS[1]}")
    document.write_text(f"{before}{begin}\n\n{tables}\n\n{end}{after}", encoding="utf-8")


def machine() -> str:
    """What it was measured on."""
    name = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    return f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} processors, {name}, load {os.getloadavg()[1]:.1f} before"


def needs_room(folder: Path) -> None:
    needed = POOL_BYTES + 3 * max(load.steps * load.step_bytes for load in all_loads().values())
    free = shutil.disk_usage(folder).free
    if free < needed:
        sys.exit(f"race: {folder} has {free >> 20} MiB free, the race needs {needed >> 20}; --folder names another")


def main() -> int:
    options = arguments()
    where = machine()
    loads = tiny_loads() if options.tiny else all_loads()
    with tempfile.TemporaryDirectory(prefix="race-", dir=options.folder) as place:
        if not options.tiny:
            needs_room(Path(place))
        race = Race(options, Path(place))
        try:
            for name, load in loads.items():
                if not options.load or name in options.load:
                    race.run(load, options.rounds)
        finally:
            race.end()
    if options.json:
        print(json.dumps(race.results.as_json(loads), indent=1))
    else:
        tables = f"Measured on {where}, {options.rounds} rounds.\n\n" + markdown(race.results, loads)
        if options.write:
            write_into(options.write, tables)
        print(tables if options.markdown or options.write else plain_text(race.results, loads))
    return 1 if race.results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
