#!/usr/bin/env python3
"""Measures what the default rules find in trainings of transformers, Lightning and accelerate, and their false alarms.

usage: trainers_table.py --cli PROGRAM --python PYTHON [--budget N] [--json] [--only PATTERN] [--runs DIR]

Every file of tests/rules/trainers is a healthy training, and has a fault with `--fault NAME`. For each fault a line at
the end of its docstring says which rules count as having found it: `fault NAME: RuleA, RuleB`. Each is run as a user
does, `trainwarden run --rules default -- python FILE [--fault NAME]`, with the default budget and no rule for the
fault, one after the other. A fault is found when one of its rules gives a verdict above a note, at any step. A false
alarm is any verdict above a note in a healthy training.

With `--budget 0` every step is captured: what is found only then, the budget left out.

Prints a table in Markdown and the figures trainers.found_pct and trainers.false_alarms. It is a measurement and no
gate: exits 0 unless a program or a rule fails, or there is no program.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import sys
import tempfile
from dataclasses import dataclass

from rules_table import ROOT, Judge, Outcome, Program, docstring_of, judge_all, option_parser, print_figures

TRAINERS = ROOT / "tests" / "rules" / "trainers"
LONGEST_S = 600  # of one that takes 15 alone; on a machine with other work
FAULT = re.compile(r"^fault ([\w-]+): *(.+?) *$", re.MULTILINE)


@dataclass
class Training(Program):
    """A training with a trainer of another library; healthy, or with one of its faults."""

    name_of_fault: str = ""
    found_by: tuple[str, ...] = ()  # rules, of which one is enough

    @property
    def library(self) -> str:
        return self.file.stem.split("_")[0]

    @property
    def run_name(self) -> str:
        return f"{self.file.stem}-{self.name_of_fault or 'healthy'}"

    @property
    def arguments(self) -> list[str]:
        return ["--fault", self.name_of_fault] if self.fault else []

    @property
    def may_fail(self) -> bool:
        return False


def all_trainings() -> list[Training]:
    trainings = []
    for file in sorted(TRAINERS.glob("*.py")):
        trainings.append(Training(file))
        for name, rules in FAULT.findall(docstring_of(file)):
            trainings.append(Training(file, fault=True, name_of_fault=name, found_by=tuple(re.split(r", *", rules))))
    return trainings


def finds(outcome: Outcome) -> list[dict]:
    """Verdicts above a note of the rules that are about the fault, the first first."""
    hits = [hit for hit in outcome.alarms if hit["rule"] in outcome.program.found_by]
    return sorted(hits, key=lambda hit: hit["step"])


def fired_at(hits: list[dict]) -> str:
    """Each rule once, with its first step."""
    first: dict[str, int] = {}
    for hit in sorted(hits, key=lambda hit: hit["step"]):
        first.setdefault(hit["rule"], hit["step"])
    return ", ".join(f"{rule} at {step}" for rule, step in first.items())


def missed(outcome: Outcome) -> str:
    """What its rules said in place of a verdict."""
    rules = outcome.program.found_by
    notes = [hit for hit in outcome.notes if hit["rule"] in rules]
    if notes:
        return f"**missed**; a note of {fired_at(notes)}"
    statuses = [f"{rule}: {outcome.statuses[rule]}" for rule in rules if rule in outcome.statuses]
    return "**missed**; " + (", ".join(statuses) or "no default rule for it")


def row_of(outcome: Outcome) -> list[str]:
    training = outcome.program
    start = [training.library, training.file.stem.removeprefix(training.library + "_")]
    if outcome.error:
        return [*start, training.name_of_fault or "healthy", f"**failed**: {outcome.error}", ""]
    if not training.fault:
        return [*start, "healthy", f"**false alarm**: {fired_at(outcome.alarms)}" if outcome.alarms else "silent", ""]
    others = [hit for hit in outcome.alarms if hit["rule"] not in training.found_by]
    return [*start, training.name_of_fault, fired_at(finds(outcome)) or missed(outcome), fired_at(others)]


def print_table(outcomes: list[Outcome]) -> None:
    print("| library | program | fault | found, at step | other rules that fired |\n|---|---|---|---|---|")
    for outcome in outcomes:
        print("| " + " | ".join(row_of(outcome)) + " |")


def figures(outcomes: list[Outcome]) -> dict[str, float]:
    faults = [outcome for outcome in outcomes if outcome.program.fault]
    found = sum(bool(finds(outcome)) for outcome in faults)
    return {
        "trainers.found_pct": 100 * found / len(faults) if faults else 0.0,
        "trainers.false_alarms": sum(len(outcome.alarms) for outcome in outcomes if not outcome.program.fault),
        "trainers.faults": len(faults),
        "trainers.kinds_of_faults": len({outcome.program.name_of_fault for outcome in faults}),
        "trainers.healthy_trainings": len(outcomes) - len(faults),
    }


def judged(trainings: list[Training], options: argparse.Namespace, scratch: str) -> list[Outcome]:
    runs = pathlib.Path(options.runs or scratch).absolute()
    judge = Judge(os.path.abspath(options.cli), os.path.abspath(options.python), runs)
    judge.budget = options.budget
    judge.longest_s = LONGEST_S
    judge.folder = pathlib.Path(scratch)  # they write checkpoints and logs where they run
    return judge_all(judge, trainings, at_once=1)


def main() -> int:
    parser = option_parser(__doc__.splitlines()[0])
    parser.add_argument("--budget", metavar="N", help="that of `trainwarden run`; without it the default")
    options = parser.parse_args()
    trainings = [training for training in all_trainings() if re.search(options.only, training.run_name)]
    with tempfile.TemporaryDirectory() as scratch:
        outcomes = judged(trainings, options, scratch)
    if not options.json:
        print_table(outcomes)
        print()
    print_figures(figures(outcomes), options.json)
    failed = [outcome for outcome in outcomes if outcome.error]
    for outcome in failed:
        print(f"{outcome.program.run_name}: {outcome.error}", file=sys.stderr)
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
