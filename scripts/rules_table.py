#!/usr/bin/env python3
"""Shows that each rule finds its fault, and nothing where there is none.

usage: rules_table.py --cli PROGRAM --python PYTHON [--json] [--only PATTERN] [--runs DIR]
                      [--changed-and N --depends-on PATHS]

Every file of tests/rules/programs is a training that is healthy, and has a fault with --fault; what it must give stands
at the end of its docstring (`rule:`, `within:`, `names:`). Every file of tests/rules/healthy is a training without a
fault. Each is run under `trainwarden run --rules default`, with the rule that it is about besides, at every step (no
budget). A fault is caught when its rule fires within so many steps and names the place; a false alarm is any verdict
above a note in a healthy training, from any of the rules. A rule that compares with an earlier run has `{before}` in
`rule:`; the program is then run before, with the arguments that `before:` gives, and its weights are kept.

Prints a table in Markdown and the figures rules.caught_pct and rules.false_alarms. Exits 1 when a fault was missed, a
healthy training gave an alarm, a program failed, or a built-in rule has no program, here or in tests/bottlenecks.
"""

from __future__ import annotations

import argparse
import ast
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts" / "gate"))
from rules_rows import Rows  # noqa: E402
from store import Store  # noqa: E402

PROGRAMS = ROOT / "tests" / "rules" / "programs"
HEALTHY = ROOT / "tests" / "rules" / "healthy"
LONGEST_S = 180
# Trainings that lose time, and the rules that find it: scripts/bottlenecks.py runs them.
BOTTLENECKS = ROOT / "tests" / "bottlenecks"
# They never fire, or say what others found.
WITHOUT_A_FAULT = {"CreateXgboostReport", "OverallFrameworkMetrics", "OverallSystemUsage", "ProfilerReport"}
# Without a GPU they are not applicable: their own tests judge written samples.
NEEDS_A_GPU = {
    "CPUBottleneck", "GPUMemoryIncrease", "GPUThrottled", "LoadBalancing", "LowGPUUtilization", "MemoryFragmentation",
    "Roofline",
}  # fmt: skip
RULE_FIRED = 3  # exit code of `trainwarden run`


@dataclass
class Program:
    """A training, and what is expected of it."""

    file: pathlib.Path
    fault: bool = False
    rule: str = ""  # spec; "": default rules only
    within: int = 0
    names: str = ""
    before: str = ""  # arguments for the run that stands for {before}; "": none

    @property
    def rule_name(self) -> str:
        return self.rule.split(":")[0]

    @property
    def run_name(self) -> str:
        return self.file.stem + ("-fault" if self.fault else "")

    @property
    def arguments(self) -> list[str]:
        return ["--fault"] if self.fault else []

    @property
    def may_fail(self) -> bool:
        """With its fault it may end in an exception."""
        return self.fault


@dataclass
class Outcome:
    """What the rules made of a program."""

    program: Program
    error: str = ""
    alarms: list[dict] = field(default_factory=list)  # verdicts above a note, consequences too
    notes: list[dict] = field(default_factory=list)
    statuses: dict[str, str] = field(default_factory=dict)

    def hits_of_its_rule(self) -> list[dict]:
        return [hit for hit in self.alarms + self.notes if hit["rule"] == self.program.rule_name]

    def problem(self) -> str:
        """Why this is not as it should be; empty when it is."""
        if self.error:
            return self.error
        if not self.program.fault:
            return "; ".join(f"false alarm of {hit['id']} at step {hit['step']}: {hit['message']}" for hit in self.alarms)
        hits = self.hits_of_its_rule()
        if not hits:
            status = next((s for name, s in self.statuses.items() if name.startswith(self.program.rule_name)), "absent")
            return f"not caught ({status})"
        first = min(hits, key=lambda hit: hit["step"])
        if first["step"] > self.program.within:
            return f"caught at step {first['step']} only, not within {self.program.within}"
        if not any(re.search(self.program.names, text) for text in _texts_of(first)):
            return f"does not name {self.program.names}: {first['message']}"
        return ""


def _texts_of(hit: dict) -> list[str]:
    """The worst evidence's tensor, and the message."""
    return [evidence["tensor"] for evidence in hit["evidence"][:1]] + [hit["message"]]


def docstring_of(file: pathlib.Path) -> str:
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""


def expectations(file: pathlib.Path) -> dict[str, str]:
    """The `key: value` lines at the end of a program's docstring."""
    return dict(re.findall(r"^(rule|within|names|before): *(.+?) *$", docstring_of(file), re.MULTILINE))


def rules_of_bottlenecks() -> set[str]:
    """The rules that have a program in tests/bottlenecks: each of those that may be the first to find it."""
    named = set()
    for file in BOTTLENECKS.rglob("*.py"):
        for line in re.findall(r"^rule: *(.+?) *$", docstring_of(file), re.MULTILINE):
            named |= set(re.split(r", *| or ", line))
    return named


def all_programs() -> list[Program]:
    programs = []
    for file in sorted(PROGRAMS.glob("*.py")):
        expected = expectations(file)
        if not {"rule", "within", "names"} <= expected.keys():
            continue  # a module that programs share
        rule, within, names = expected["rule"], int(expected["within"].split()[0]), expected["names"]
        before = expected.get("before", "")
        programs.append(Program(file, True, rule, within, names, before))
        programs.append(Program(file, False, rule, before=before))
    programs += [Program(file) for file in sorted(HEALTHY.glob("*.py")) if file.stem != "toy"]
    return programs


class Judge:
    """Runs programs under the rules."""

    def __init__(self, cli: str, python: str, runs: pathlib.Path):
        self._cli, self._python, self._runs = cli, python, runs
        self.budget: str | None = "0"  # every step; None: the default
        self.folder: pathlib.Path | None = None  # where programs run; None: here
        self.longest_s = LONGEST_S

    def run(self, program: Program) -> Outcome:
        rule = program.rule.replace("{before}", str(self._runs / f"{program.run_name}-before"))
        rules = ["--rules", "default"] + (["--rule", rule] if rule else [])
        budget = [] if self.budget is None else ["--budget", self.budget]
        command = [self._cli, "run", "--runs", self._runs, "--name", program.run_name, *budget, *rules, "--"]
        command += [self._python, program.file, *program.arguments]
        outcome = Outcome(program)
        try:
            if program.before:
                self._start_before(program)
            done = self._start(command)
        except subprocess.TimeoutExpired:
            outcome.error = f"did not end within {self.longest_s} s"
            return outcome
        if done.returncode not in (0, RULE_FIRED) and not program.may_fail:
            outcome.error = f"ended with code {done.returncode}: {done.stderr.strip()[-400:]}"
            return outcome
        self._read(outcome)
        return outcome

    def _start_before(self, program: Program) -> None:
        """The run that a rule compares with. When it fails the rule finds no run there, and says so."""
        name = program.run_name + "-before"
        command = [self._cli, "run", "--runs", self._runs, "--name", name, "--budget", "0"]
        command += ["--include-collection", "weights", "--save-interval", "1", "--"]
        self._start(command + [self._python, program.file, *program.before.split()])

    def _start(self, command: list) -> subprocess.CompletedProcess:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        command = list(map(str, command))
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=self.folder,
            start_new_session=True,
        ) as started:
            try:
                out, err = started.communicate(timeout=self.longest_s)
            except subprocess.TimeoutExpired:
                os.killpg(started.pid, signal.SIGKILL)  # with the training, which would go on
                raise
        return subprocess.CompletedProcess(command, started.returncode, out, err)

    def _read(self, outcome: Outcome) -> None:
        done = self._start([self._cli, "rules", self._runs / outcome.program.run_name, "--json"])
        if done.returncode != 0:
            outcome.error = f"no verdicts: {done.stderr.strip()[-300:]}"
            return
        for rule in json.loads(done.stdout):
            outcome.statuses[rule["RuleConfigurationName"]] = rule["Status"]
            for hit in rule["Hits"]:
                if hit["outcome"] == "fired":
                    (outcome.notes if hit["severity"] == "info" else outcome.alarms).append(hit)
                else:
                    outcome.error = f"{rule['RuleConfigurationName']} failed: {hit['message']}"

    def builtin_rules(self) -> list[str]:
        listed = json.loads(self._start([self._cli, "rules", "--json"]).stdout)["rules"]
        return [rule["name"] for rule in listed]


def rows_of(outcomes: list[Outcome]) -> list[list[str]]:
    """For each program with a fault: rule, program, when it fired and what it named, and what the healthy one gave."""
    healthy = {o.program.file: o for o in outcomes if not o.program.fault}
    rows = []
    for outcome in outcomes:
        program = outcome.program
        if not program.fault:
            continue
        hits = sorted(outcome.hits_of_its_rule(), key=lambda hit: hit["step"])
        fired = f"step {hits[0]['step']} (of at most {program.within})" if hits else "never"
        named = hits[0]["evidence"][0]["tensor"] if hits and hits[0]["evidence"] else ""
        other = healthy.get(program.file)
        silent = "silent" if other and not other.problem() else "ALARM"
        verdict = outcome.problem() or "caught"
        rows.append([program.rule_name, program.file.stem, fired, named, silent, verdict])
    return rows


def print_table(outcomes: list[Outcome], without: list[str]) -> None:
    print("| rule | program | fired | named | healthy | |\n|---|---|---|---|---|---|")
    for row in sorted(rows_of(outcomes)):
        print("| " + " | ".join(row) + " |")
    print("\n| healthy training | |\n|---|---|")
    for outcome in outcomes:
        if not outcome.program.rule:
            print(f"| {outcome.program.file.stem} | {outcome.problem() or 'silent'} |")
    if without:
        print("\nWithout a program: " + ", ".join(without))


def figures(outcomes: list[Outcome]) -> dict[str, float]:
    faults = [o for o in outcomes if o.program.fault]
    caught = sum(not o.problem() for o in faults)
    return {
        "rules.caught_pct": 100 * caught / len(faults) if faults else 0.0,
        "rules.false_alarms": sum(len(o.alarms) for o in outcomes if not o.program.fault),
        "rules.faults": len(faults),
        "rules.healthy_trainings": len(outcomes) - len(faults),
    }


def judge_all(judge: Judge, programs: list[Program], at_once: int | None = None) -> list[Outcome]:
    """`at_once`: None: as many as there are processors."""
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(at_once or os.cpu_count()) as pool:
        for outcome in pool.map(judge.run, programs):
            outcomes.append(outcome)
            if sys.stderr.isatty():
                print(f"\r{len(outcomes)} of {len(programs)} programs", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return outcomes


def option_parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cli", required=True, help="the program trainwarden")
    parser.add_argument("--python", required=True, help="a Python with PyTorch and the package trainwarden")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, a line each, and no table")
    parser.add_argument("--only", default="", metavar="PATTERN", help="programs whose names match")
    parser.add_argument("--runs", metavar="DIR", help="keep the runs in this folder")
    return parser


def print_figures(values: dict[str, float], as_json: bool) -> None:
    for name, value in values.items():
        print(json.dumps({"name": name, "value": value}) if as_json else f"{name} {value:g}")


def main() -> int:
    parser = option_parser(__doc__.splitlines()[0])
    parser.add_argument("--changed-and", type=int, metavar="N", help="programs whose rule has changed, and N others by turns")
    parser.add_argument("--depends-on", default="", metavar="PATHS", help="what all of them depend on, with commas between")
    options = parser.parse_args()
    programs = [program for program in all_programs() if re.search(options.only, program.file.stem)]
    rows, everything = None, programs
    if options.changed_and is not None:
        rows = Rows(Store(), options.depends_on.split(","))
        programs = rows.choose(programs, options.changed_and)
        print(f"{len(everything) - len(programs)} programs wait for their turn: their rules have not changed")
    with tempfile.TemporaryDirectory() as scratch:
        judge = Judge(options.cli, options.python, pathlib.Path(options.runs or scratch))
        outcomes = judge_all(judge, programs)
        covered = {program.rule_name for program in everything if program.fault}
        covered |= rules_of_bottlenecks() | WITHOUT_A_FAULT | NEEDS_A_GPU
        without = [] if options.only else [name for name in judge.builtin_rules() if name not in covered]
    if not options.json:
        print_table(outcomes, without)
        print()
    print_figures(figures(outcomes), options.json)
    problems = [(outcome.program.run_name, outcome.problem()) for outcome in outcomes if outcome.problem()]
    for name, problem in problems:
        print(f"{name}: {problem}", file=sys.stderr)
    if rows is not None:
        for outcome in outcomes:
            rows.note(outcome.program, not outcome.problem())
    return 1 if problems or without or not everything else 0


if __name__ == "__main__":
    sys.exit(main())
