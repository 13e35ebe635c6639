#!/usr/bin/env python3
"""Is a training the same alone and under `trainwarden run`?

usage: compare.py --cli PROGRAM --python PYTHON [--rules RULES]... [--kind KIND]... [--only PATTERN] [--jobs N] [--json]

Every file of programs/KIND is a program that prints what it can observe. It is run alone and watched, in an empty folder
at the same path: exit code, output, errors, files that stay behind, wall time and peak memory are compared. What also
differs between two executions alone is left out; time and memory count when they are beyond their bounds three times in
a row. Prints a table by kind, and exits 1 when any program differs.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import re
import shutil
import signal
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from differences import costs, differences, without_noise
from running import HERE, Runner, Seen

PROGRAMS = HERE / "programs"
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

    @property
    def differs(self) -> bool:
        return bool(self.reasons)


def all_programs(kinds: list[str], pattern: str) -> list[Path]:
    """Those of these kinds, of all when none is named, whose `kind/name` matches."""
    found = sorted(PROGRAMS.glob("*/*.py"))
    chosen = [each for each in found if not kinds or each.parent.name in kinds]
    return [each for each in chosen if re.search(pattern, f"{each.parent.name}/{each.stem}")]


def judge(runner: Runner, program: Path, rules: str) -> Verdict:
    """Runs it alone and watched, and again where they differ."""
    kind, name = program.parent.name, program.stem
    slot = f"{kind}.{name}.{rules or 'plain'}"
    alone, watched = runner.alone(slot, program), runner.watched(slot, rules, program)
    reasons = differences(alone, watched)
    if reasons:
        reasons = _beyond_noise(runner, slot, rules, program, alone, watched)
    if not any(reason == "hangs" for reason in reasons):
        reasons += _costs(runner, slot, rules, program, alone, watched)
    return Verdict(kind, name, rules, reasons, alone.seconds, watched.seconds, alone.peak_mib, watched.peak_mib)


def _beyond_noise(runner: Runner, slot: str, rules: str, program: Path, alone: Seen, watched: Seen) -> list[str]:
    """What differs also when it is tried once more, in lines that are the same each time alone."""
    again = runner.alone(slot, program)
    clean = without_noise(alone, again)
    if alone.code != again.code:
        return ["differs by itself"]
    found = differences(clean(alone), clean(watched))
    if not found:
        return []
    return differences(clean(again), clean(runner.watched(slot, rules, program)))


def _costs(runner: Runner, slot: str, rules: str, program: Path, alone: Seen, watched: Seen) -> list[str]:
    found = costs(alone, watched)
    for _ in range(_ROUNDS - 1):
        if not found:
            return []
        for best, seen in ((alone, runner.alone(slot, program)), (watched, runner.watched(slot, rules, program))):
            best.seconds, best.peak_mib = min(best.seconds, seen.seconds), min(best.peak_mib, seen.peak_mib)
        found = costs(alone, watched)
    return found


def judge_all(runner: Runner, programs: list[Path], ways: list[str], jobs: int) -> list[Verdict]:
    """Each program in each way, so many at once; says each difference as soon as it is found."""
    verdicts = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tasks = [pool.submit(judge, runner, program, rules) for program in programs for rules in ways]
        for task in concurrent.futures.as_completed(tasks):
            verdict = task.result()
            verdicts.append(verdict)
            for reason in verdict.reasons:
                way = f"--rules {verdict.rules}" if verdict.rules else "run"
                print(f"{verdict.kind}/{verdict.name} ({way}): {reason}", file=sys.stderr, flush=True)
    return sorted(verdicts, key=lambda verdict: (verdict.kind, verdict.name, verdict.rules))


def print_table(verdicts: list[Verdict]) -> None:
    """By kind: programs, those that are the same in every way, and those that differ in some."""
    print("| kind | programs | same | differ | which |\n|---|---|---|---|---|")
    for kind in sorted({verdict.kind for verdict in verdicts}):
        of_kind = [verdict for verdict in verdicts if verdict.kind == kind]
        print(f"| {kind} | {_counts(of_kind)} | {', '.join(sorted(_names(of_kind, differ=True)))} |")
    print(f"| all | {_counts(verdicts)} | |")


def _names(verdicts: list[Verdict], differ: bool) -> set[str]:
    differing = {f"{each.kind}/{each.name}" for each in verdicts if each.differs}
    chosen = differing if differ else {f"{each.kind}/{each.name}" for each in verdicts} - differing
    return {each.split("/")[1] for each in chosen} if len({each.kind for each in verdicts}) == 1 else chosen


def _counts(verdicts: list[Verdict]) -> str:
    same, differ = len(_names(verdicts, differ=False)), len(_names(verdicts, differ=True))
    return f"{same + differ} | {same} | {differ}"


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
    options = parser.parse_args()
    programs = all_programs(options.kind, options.only)
    heed_signals()
    scratch = Path(tempfile.mkdtemp(prefix="invariance-"))
    try:
        runner = Runner(options.cli, options.python, scratch, options.timeout)
        verdicts = judge_all(runner, programs, ways_of(options), options.jobs)
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
