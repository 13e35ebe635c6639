#!/usr/bin/env python3
"""Is a training the same alone and under `trainwarden run`?

usage: compare.py --cli PROGRAM --python PYTHON [--rules RULES]... [--kind KIND]... [--only PATTERN] [--forked | --slice]
                  [--jobs N] [--json]

Every file of programs/KIND is a program that prints what it can observe. It is run alone and watched, in an empty folder
at the same path: exit code, output, errors, files that stay behind, wall time and peak memory are compared. What also
differs between two executions alone is left out; time and memory count when they are beyond their bounds three times in
a row. With --forked many programs share a process that has imported torch (batch.py), which takes a fifth of the time;
programs of kinds that need a process of their own are then left out. --slice is what the gate has time for. Prints a table by kind, and exits 1 when any program differs.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import functools
import json
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Optional

from differences import costs, differences, without_noise
from running import HERE, Runner, Seen

PROGRAMS = HERE / "programs"
# Of kinds whose programs look at, or end, a whole process.
NEED_A_PROCESS = ("descriptors", "ends", "environment", "globals", "interpreters", "processes", "resume", "signals", "streams")
_BATCH = 30  # programs in one process
MAY_FAIL = ("ends",)  # kinds whose programs end with a traceback
_ROUNDS = 3  # of time and memory: the least of each counts


@dataclass
class Verdict:
    """What came of one program under one way of watching."""

    kind: str
    name: str
    rules: str
    reasons: list[str]
    alone_s: float
    watched_s: float
    alone_mib: float
    watched_mib: float

    is_by_design: bool = False  # the documents say that it differs, and why

    @property
    def differs(self) -> bool:
        return bool(self.reasons) and not self.is_by_design


def all_programs(kinds: list[str], pattern: str) -> list[Path]:
    """Those of these kinds, of all when none is named, whose `kind/name` matches."""
    found = sorted(PROGRAMS.glob("*/*.py"))
    chosen = [each for each in found if not kinds or each.parent.name in kinds]
    return [each for each in chosen if re.search(pattern, f"{each.parent.name}/{each.stem}")]


# Runs programs alone (the rules are None) or watched, and gives what each showed.
_Run = Callable[[Optional[str], list[Path]], list[Seen]]


def judge(run: _Run, programs: list[Path], rules: str, may_fail: bool = False) -> list[Verdict]:
    """Runs them alone and watched, and those again that differ. `may_fail`: a traceback is as good an end as any."""
    alone, watched = run(None, programs), run(rules, programs)
    found = {program: _Pair(*pair) for program, *pair in zip(programs, alone, watched)}
    _clear_noise(run, rules, {program: pair for program, pair in found.items() if pair.reasons})
    _look_at_costs(run, rules, found)
    return [_verdict(program, rules, pair, may_fail) for program, pair in found.items()]


class _Pair:
    """A program alone and watched, and what differs."""

    def __init__(self, alone: Seen, watched: Seen) -> None:
        self.alone, self.watched = alone, watched
        self.reasons = differences(alone, watched)

    def is_dear(self) -> bool:
        """Is what it costs to watch it beyond the bounds?"""
        return not self.watched.hung and bool(costs(self.alone, self.watched))


def _verdict(program: Path, rules: str, pair: _Pair, may_fail: bool) -> Verdict:
    reasons, alone, watched = pair.reasons, pair.alone, pair.watched
    if not may_fail and program.parent.name not in MAY_FAIL and b"Traceback" in alone.err:
        reasons = ["fails alone: " + alone.err.decode(errors="replace").strip().splitlines()[-1]]
    numbers = (alone.seconds, watched.seconds, alone.peak_mib, watched.peak_mib)
    is_by_design = f"{program.parent.name}/{program.stem}" in by_design()
    return Verdict(program.parent.name, program.stem, rules, reasons, *numbers, is_by_design)


@functools.cache
def by_design() -> frozenset[str]:
    """The programs that differ although nothing is wrong."""
    lines = (HERE / "by_design.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line.split(":")[0] for line in lines if line)


def _clear_noise(run: _Run, rules: str, differing: dict[Path, _Pair]) -> None:
    """What counts differs also when it is tried once more, in lines that are the same each time alone."""
    if not differing:
        return
    programs = list(differing)
    for program, alone, watched in zip(programs, run(None, programs), run(rules, programs)):
        pair = differing[program]
        clean = without_noise(pair.alone, alone)
        if pair.alone.code != alone.code:
            pair.reasons = ["differs by itself"]
        elif not differences(clean(pair.alone), clean(watched)):
            pair.reasons = []
        else:
            pair.reasons = differences(clean(pair.alone), clean(pair.watched))


def _look_at_costs(run: _Run, rules: str, found: dict[Path, _Pair]) -> None:
    """Time and memory: the least of some rounds, for those that are beyond their bounds so far."""
    for _ in range(_ROUNDS - 1):
        dear = [program for program, pair in found.items() if pair.is_dear()]
        if not dear:
            return
        for program, alone, watched in zip(dear, run(None, dear), run(rules, dear)):
            for best, seen in ((found[program].alone, alone), (found[program].watched, watched)):
                best.seconds, best.peak_mib = min(best.seconds, seen.seconds), min(best.peak_mib, seen.peak_mib)
                best.cpu_seconds = min(best.cpu_seconds, seen.cpu_seconds)
    for pair in found.values():
        if pair.is_dear():
            pair.reasons = pair.reasons + costs(pair.alone, pair.watched)


def _singly(runner: Runner) -> _Run:
    """Each program in a process of its own."""

    def run(rules: Optional[str], programs: list[Path]) -> list[Seen]:
        slots = [f"{program.parent.name}.{program.stem}" for program in programs]
        if rules is None:
            return [runner.alone(slot, program) for slot, program in zip(slots, programs)]
        return [runner.watched(slot, rules, program) for slot, program in zip(slots, programs)]

    return run


def judge_all(runner: Runner, programs: list[Path], ways: list[str], jobs: int, forked: bool = False) -> list[Verdict]:
    """Each program in each way, so many at once; says each difference as soon as it is found."""
    size = _BATCH if forked else 1
    groups = [programs[begin : begin + size] for begin in range(0, len(programs), size)]
    verdicts = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tasks = []
        for number, (rules, group) in enumerate((rules, group) for group in groups for rules in ways):
            apart = dataclasses.replace(runner, scratch=runner.scratch / str(number))
            run = functools.partial(apart.batch, "batch") if forked else _singly(apart)
            tasks.append(pool.submit(judge, run, group, rules))
        for task in concurrent.futures.as_completed(tasks):
            verdicts += task.result()
            _say(task.result())
    return sorted(verdicts, key=lambda verdict: (verdict.kind, verdict.name, verdict.rules))


def _say(verdicts: list[Verdict]) -> None:
    for verdict in verdicts:
        for reason in verdict.reasons if verdict.differs else ():
            way = f"--rules {verdict.rules}" if verdict.rules else "run"
            print(f"{verdict.kind}/{verdict.name} ({way}): {reason}", file=sys.stderr, flush=True)


def print_table(verdicts: list[Verdict]) -> None:
    """By kind: programs, those that are the same in every way, and those that differ in some, by design or not."""
    print("| kind | programs | same | differ | by design | which differ |\n|---|---|---|---|---|---|")
    for kind in sorted({verdict.kind for verdict in verdicts}):
        print(_row(kind, [verdict for verdict in verdicts if verdict.kind == kind]))
    print(_row("all", verdicts, with_names=False))


def _row(title: str, verdicts: list[Verdict], with_names: bool = True) -> str:
    programs = {(verdict.kind, verdict.name) for verdict in verdicts}
    meant = {(verdict.kind, verdict.name) for verdict in verdicts if verdict.reasons and verdict.is_by_design}
    differ = {(verdict.kind, verdict.name) for verdict in verdicts if verdict.differs}
    names = ", ".join(sorted(name for _, name in differ)) if with_names else ""
    same = len(programs - differ - meant)
    return f"| {title} | {len(programs)} | {same} | {len(differ)} | {len(meant)} | {names} |"


def option_parser(description: str) -> argparse.ArgumentParser:
    """The options that are shared with generator.py."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cli", required=True, help="the program trainwarden")
    parser.add_argument("--python", required=True, help="a Python with PyTorch and the package trainwarden")
    parser.add_argument("--rules", action="append", metavar="RULES", help='"default"; "none" for a run that is not judged')
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many programs at once; time is compared, too")
    parser.add_argument("--timeout", type=float, default=90.0, metavar="SECONDS")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON, a line each, and no table")
    return parser


def runner_of(options: argparse.Namespace, scratch: Path) -> Runner:
    """What --cli, --python and --timeout say; programs run in other folders."""
    return Runner(os.path.abspath(options.cli), os.path.abspath(options.python), scratch, options.timeout)


def ways_of(options: argparse.Namespace) -> list[str]:
    """The values of --rules; both ways without any."""
    return ["" if each == "none" else each for each in options.rules or ["none", "default"]]


def heed_signals() -> None:
    """Programs get signals as in a terminal, also where this one was started in the background, which ignores some."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def main() -> int:
    parser = option_parser(__doc__.splitlines()[0])
    parser.add_argument("--kind", action="append", default=[], metavar="KIND", help="programs of this folder")
    parser.add_argument("--only", default="", metavar="PATTERN", help="programs whose kind/name matches")
    parser.add_argument("--forked", action="store_true", help="many programs in forks of one process")
    parser.add_argument("--slice", action="store_true", help="the programs of slice.txt, forked")
    options = parser.parse_args()
    programs, is_forked = all_programs(options.kind, options.only), options.forked or options.slice
    if options.slice:
        named = (HERE / "slice.txt").read_text(encoding="utf-8").split()
        programs = [each for each in programs if f"{each.parent.name}/{each.stem}" in named]
    elif options.forked:
        programs = [each for each in programs if each.parent.name not in NEED_A_PROCESS]
    heed_signals()
    scratch = Path(tempfile.mkdtemp(prefix="invariance-"))
    try:
        runner = runner_of(options, scratch)
        verdicts = judge_all(runner, programs, ways_of(options), options.jobs, is_forked)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if options.json:
        for verdict in verdicts:
            print(json.dumps(asdict(verdict)))
    else:
        print_table(verdicts)
    return 1 if not verdicts or any(verdict.differs for verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
