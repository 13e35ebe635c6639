#!/usr/bin/env python3
"""Shows that the profiler's rules find what a training loses its time to, and say what mending it gains.

usage: bottlenecks.py --cli PROGRAM --python PYTHON [--json] [--only PATTERN] [--repeat N] [--findings-only]
                      [--runs DIR]

Each file of tests/bottlenecks is a training with a built-in bottleneck, and its mended twin with --mended. Those of
tests/bottlenecks/held_out are of other kinds; no rule was made with them. Both are run in turns under
`trainwarden run --rules profiler`, N times, with all else as users have it. The end of a file's docstring says which
rule must find it (`rule:`), what its message names (`names:`) and what the fault is made with besides the program
(`means:`, scripts/slow_means.py).

Of all findings the first is the one that the report of the run (`trainwarden report`) names first. The twin must have
none, neither in its report nor reported while it ran. The measured gain is the ratio of the samples per second that the
programs count themselves, medians of N runs; the predicted one is that of the report, the median too. A prediction holds when it is wrong by
30 % at most of what is gained: |predicted - measured| <= 0.3 * (measured - 1).

Healthy trainings, tests/rules/healthy, are run once each: no rule may find anything in them.

Steps are slow too when other programs take the processors away from a training, and the rules say so, rightly. While
others used more than a tenth of the processors, what was found first, or in a twin or a healthy training, is told, and
is no failure.

Prints tables in Markdown and the figures bottlenecks.*. Exits 1 when something is not as it must be. What this machine
has no means for is skipped, and said to be; so is that other programs kept it busy when the runs began.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Optional

import slow_means
from rules_table import HEALTHY, ROOT, RULE_FIRED, docstring_of

PAIRS = ROOT / "tests" / "bottlenecks"
LONGEST_S = 240
TOLERANCE = 0.3
MAX_OTHERS = 0.1  # of the processors, by other programs or other machines on the same host


@dataclass
class Pair:
    """A training with a bottleneck, and its mended twin."""

    file: pathlib.Path
    rules: list[str]  # any of them may be the first
    names: str
    means: str

    @property
    def held_out(self) -> bool:
        return self.file.parent != PAIRS

    @property
    def name(self) -> str:
        return self.file.stem


@dataclass
class Finding:
    """What a rule that fired says."""

    rule: str
    message: str
    gain: Optional[float]
    gain_min: Optional[float]
    gain_max: Optional[float]
    explained_by: str

    def __str__(self) -> str:
        gain = "" if self.gain is None else f" ({self.gain:.2f} x)"
        return self.rule + gain + (f", explained by {self.explained_by}" if self.explained_by else "")


@dataclass
class Outcome:
    """What came of one run."""

    error: str = ""
    pace: float = 0.0  # samples per second
    findings: list[Finding] = field(default_factory=list)  # the first one first
    others: float = 0.0  # the share of the processors that others used meanwhile

    @property
    def disturbed(self) -> bool:
        return self.others > MAX_OTHERS

    @property
    def first(self) -> Optional[Finding]:
        return self.findings[0] if self.findings else None


@dataclass
class Result:
    """All runs of a pair."""

    pair: Pair
    faulty: list[Outcome] = field(default_factory=list)
    mended: list[Outcome] = field(default_factory=list)
    skipped: str = ""

    def measured(self) -> Optional[float]:
        if any(outcome.error for outcome in self.faulty + self.mended) or not self.faulty:
            return None
        return statistics.median(o.pace for o in self.mended) / statistics.median(o.pace for o in self.faulty)

    def right_firsts(self) -> int:
        return sum(self.is_right(outcome.first) for outcome in self.faulty)

    def is_right(self, finding: Optional[Finding]) -> bool:
        if finding is None or finding.rule not in self.pair.rules:
            return False
        return re.search(self.pair.names, finding.message) is not None

    def predicted(self, which: str = "gain") -> Optional[float]:
        """Of the rule that is expected, wherever it stands among the findings."""
        values = []
        for outcome in self.faulty:
            value = next((getattr(f, which) for f in outcome.findings if f.rule in self.pair.rules), None)
            if value is not None:
                values.append(value)
        return statistics.median(values) if values else None

    def prediction_holds(self) -> bool:
        predicted, measured = self.predicted(), self.measured()
        if predicted is None or measured is None:
            return False
        return abs(predicted - measured) <= TOLERANCE * (measured - 1)

    def problems(self, findings_only: bool) -> Iterator[str]:
        if self.skipped:
            return
        for outcome in self.faulty + self.mended:
            if outcome.error:
                yield outcome.error
                return
        for outcome in self.faulty:
            if not self.is_right(outcome.first) and not outcome.disturbed:
                yield f"first is {outcome.first or 'nothing'}, not {' or '.join(self.pair.rules)}"
        for outcome in self.mended:
            for finding in outcome.findings:
                if not outcome.disturbed:
                    yield f"the twin has {finding}: {finding.message}"
        if not findings_only and not self.prediction_holds():
            yield f"predicted {shown(self.predicted())}, measured {shown(self.measured())}"


def shown(gain: Optional[float]) -> str:
    return "none" if gain is None else f"{gain:.2f} x"


def pairs_of(folder: pathlib.Path) -> list[Pair]:
    pairs = []
    for file in sorted(folder.glob("*.py")):
        said = dict(re.findall(r"^(rule|names|means): *(.+?) *$", docstring_of(file), re.MULTILINE))
        if "rule" in said:
            pairs.append(Pair(file, said["rule"].split(" or "), said.get("names", ""), said.get("means", "")))
    return pairs


class Others:
    """What others use of the processors, from when it is made."""

    def __init__(self) -> None:
        self._begin = self._look()

    def share(self) -> float:
        """Of all processors, without this program's children that have ended; what a host takes away counts. 0 where
        this program may not use all of them: others then have theirs."""
        if len(os.sched_getaffinity(0)) != os.cpu_count():
            return 0.0
        wall, busy, own = (now - then for now, then in zip(self._look(), self._begin))
        return max(0.0, busy - own) / (wall * (os.cpu_count() or 1))

    @staticmethod
    def _look() -> tuple[float, float, float]:
        user, nice, system, _, _, irq, softirq, steal = (
            int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
        )
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        ticks = user + nice + system + irq + softirq + steal
        return time.monotonic(), ticks / os.sysconf("SC_CLK_TCK"), children.ru_utime + children.ru_stime


class Runner:
    """Runs programs as users do."""

    def __init__(self, cli: str, python: str, runs: pathlib.Path, repeat: int):
        self._cli, self._python, self._runs, self._repeat = os.path.abspath(cli), os.path.abspath(python), runs, repeat
        self._count = 0

    def run_pair(self, pair: Pair) -> Result:
        result = Result(pair)
        try:
            for _ in range(self._repeat):
                result.faulty.append(self._run_with_means(pair, mended=False))
                result.mended.append(self._run_with_means(pair, mended=True))
        except slow_means.Missing as missing:
            result.skipped = f"no such means here: {missing}"
        return result

    def run_healthy(self, file: pathlib.Path) -> Outcome:
        return self._run([str(file)], {}, None, needs_pace=False)

    def _run_with_means(self, pair: Pair, mended: bool) -> Outcome:
        program = [str(pair.file)] + (["--mended"] if mended else [])
        with contextlib.ExitStack() as stack:
            variables: dict[str, str] = {}
            group = None
            if pair.means == "cpu_quota":
                made = stack.enter_context(slow_means.processor_quota())
                group = None if mended else made
            elif pair.means == "slow_disk":
                scratch = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
                folder, number = stack.enter_context(slow_means.disk(scratch))
                variables = {"SLOW_FOLDER": str(folder), "FAST_FOLDER": str(scratch)}
                group = stack.enter_context(slow_means.slow_reads(number))
                self._started([self._python, *program, "--prepare"], variables)
            elif pair.means:
                raise slow_means.Missing(f"{pair.file}: nobody knows the means {pair.means}")
            return self._run(program, variables, group, needs_pace=True)

    def _run(self, program: list[str], variables: dict[str, str], group: Any, needs_pace: bool) -> Outcome:
        self._count += 1
        name = f"{pathlib.Path(program[0]).stem}-{self._count}"
        command = [self._cli, "run", "--runs", str(self._runs), "--name", name, "--rules", "profiler", "--"]
        command += [self._python, *program]
        others = Others()
        try:
            done = self._started(slow_means.in_group(group, command) if group else command, variables)
        except subprocess.TimeoutExpired:
            return Outcome(f"did not end within {LONGEST_S} s")
        share = others.share()
        if done.returncode not in (0, RULE_FIRED):
            return Outcome(f"ended with code {done.returncode}: {done.stderr.strip()[-400:]}")
        told = re.search(r"^samples_per_second ([0-9.]+)$", done.stdout, re.MULTILINE)
        if needs_pace and not told:
            return Outcome("printed no samples_per_second")
        return self._with_findings(Outcome(pace=float(told[1]) if told else 0.0, others=share), self._runs / name)

    def _with_findings(self, outcome: Outcome, run: pathlib.Path) -> Outcome:
        try:
            outcome.findings = self._in_report(run)
            outcome.findings += self._while_it_ran(run, {finding.rule for finding in outcome.findings})
        except (ValueError, KeyError, subprocess.CalledProcessError) as error:
            outcome.error = f"{run.name}: {error}{getattr(error, 'stderr', '') or ''}"
        return outcome

    def _in_report(self, run: pathlib.Path) -> list[Finding]:
        rules = self._json("report", run)["rules"]
        broken = [rule for rule in rules if rule["status"] == "error"]
        if broken:
            raise ValueError(f"{broken[0]['rule']} failed: {broken[0]['message']}")
        return [finding_of(rule) for rule in rules if rule["status"] == "fired"]

    def _while_it_ran(self, run: pathlib.Path, in_report: set[str]) -> list[Finding]:
        """What was reported then, and is not in the report."""
        findings = []
        seen = in_report | {"ProfilerReport"}  # which says what others found
        for rule in self._json("rules", run):
            for hit in rule["Hits"]:
                if hit["outcome"] != "fired":
                    raise ValueError(f"{hit['rule']} failed: {hit['message']}")
                if hit["rule"] not in seen and hit["severity"] != "info":
                    seen.add(hit["rule"])
                    findings.append(Finding(hit["rule"], hit["message"], None, None, None, ""))
        return findings

    def _json(self, command: str, run: pathlib.Path) -> Any:
        done = self._started([self._cli, command, str(run), "--json"], {})
        done.check_returncode()
        return json.loads(done.stdout)

    def _started(self, command: list[str], variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TRAINWARDEN_")}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", **variables}
        return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S, env=environment)


def finding_of(rule: dict[str, Any]) -> Finding:
    """Of a rule that fired, as the report has it."""
    gain = rule["gain"] or {"expected": None, "min": None, "max": None}
    explained = rule["explained_by"] or ""
    return Finding(rule["rule"], rule["message"], gain["expected"], gain["min"], gain["max"], explained)


def row_of(result: Result) -> list[str]:
    pair, runs = result.pair, len(result.faulty)
    if result.skipped:
        return [pair.name, " or ".join(pair.rules), f"**skipped: {result.skipped}**", "", "", "", ""]
    firsts = sorted({outcome.first.rule if outcome.first else "nothing" for outcome in result.faulty})
    in_twin = sorted({finding.rule for outcome in result.mended for finding in outcome.findings})
    low, high = result.predicted("gain_min"), result.predicted("gain_max")
    bounds = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
    return [
        pair.name, " or ".join(pair.rules), f"{', '.join(firsts)} ({result.right_firsts()} of {runs} right)",
        ", ".join(in_twin) or "none", shown(result.predicted()) + bounds, shown(result.measured()),
        "yes" if result.prediction_holds() else "**no**",
    ]  # fmt: skip


def print_pairs(title: str, results: list[Result]) -> None:
    print(f"\n{title}\n")
    print("| training | expected | first finding | in its twin | predicted gain | measured | holds |")
    print("|---|---|---|---|---|---|---|")
    for result in results:
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in row_of(result)) + " |")


def print_healthy(healthy: dict[str, Outcome]) -> None:
    print("\nHealthy trainings:\n\n| training | |\n|---|---|")
    for name, outcome in healthy.items():
        print(f"| {name} | {outcome.error or ', '.join(map(str, outcome.findings)) or 'silent'} |")


def figures(results: list[Result], healthy: dict[str, Outcome]) -> dict[str, float]:
    ran = [result for result in results if not result.skipped]
    runs = sum(len(result.faulty) for result in ran)
    return {
        "bottlenecks.pairs": len(ran),
        "bottlenecks.skipped": len(results) - len(ran),
        "bottlenecks.first_pct": 100 * sum(result.right_firsts() for result in ran) / runs if runs else 0.0,
        "bottlenecks.twin_findings": sum(len(o.findings) for result in ran for o in result.mended),
        "bottlenecks.predicted": sum(result.prediction_holds() for result in ran),
        "bottlenecks.gain_over_1.5": sum((result.measured() or 0) > 1.5 for result in ran),
        "bottlenecks.healthy_trainings": len(healthy),
        "bottlenecks.healthy_findings": sum(len(outcome.findings) for outcome in healthy.values()),
    }


def run_all(runner: Runner, pairs: list[Pair], healthy: list[pathlib.Path]) -> tuple[list[Result], dict[str, Outcome]]:
    """One after the other: two at once would slow each other down."""
    results: list[Result] = []
    outcomes: dict[str, Outcome] = {}
    for pair in pairs:
        say(f"{len(results) + 1} of {len(pairs)} pairs: {pair.name}")
        results.append(runner.run_pair(pair))
    for file in healthy:
        say(f"{len(outcomes) + 1} of {len(healthy)} healthy trainings: {file.stem}")
        outcomes[file.stem] = runner.run_healthy(file)
    return results, outcomes


def load_of_others() -> str:
    """What to say when other programs keep the machine busy, and gains mean little; empty when they do not."""
    processors = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    if load < processors / 2:
        return ""
    return f"other programs keep this machine busy: a load of {load:.1f} on {processors} processors; gains say little now"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def report_problems(results: list[Result], healthy: dict[str, Outcome], findings_only: bool) -> int:
    """Returns the exit code."""
    wrong = 0
    for result in results:
        if result.skipped:
            say(f"SKIPPED {result.pair.name}: {result.skipped}")
        for problem in result.problems(findings_only):
            wrong += 1
            say(f"{result.pair.name}: {problem}")
        for outcome in result.faulty:
            if not result.is_right(outcome.first):
                tell_disturbed(result.pair.name, outcome)
        for outcome in result.mended:
            if outcome.findings:
                tell_disturbed(f"the twin of {result.pair.name}", outcome)
    for name, outcome in healthy.items():
        found = [] if outcome.disturbed else [f"{f}: {f.message}" for f in outcome.findings]
        for problem in ([outcome.error] if outcome.error else []) + found:
            wrong += 1
            say(f"{name}: {problem}")
        if outcome.findings:
            tell_disturbed(name, outcome)
    return 1 if wrong else 0


def tell_disturbed(name: str, outcome: Outcome) -> None:
    if outcome.disturbed:
        said = "; ".join(f"{finding}: {finding.message}" for finding in outcome.findings) or "nothing"
        say(f"BUSY: others used {100 * outcome.others:.0f} % of the processors during {name}, which has {said}")


def options_of_command() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--cli", required=True, help="the program trainwarden")
    parser.add_argument("--python", required=True, help="a Python with PyTorch and the package trainwarden")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, a line each, and no table")
    parser.add_argument("--only", default="", metavar="PATTERN", help="trainings whose file names match")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each (default: 3)")
    parser.add_argument("--findings-only", action="store_true", help="do not fail for gains that are not as predicted")
    parser.add_argument("--runs", metavar="DIR", help="keep the runs in this folder")
    return parser.parse_args()


def main() -> int:
    options = options_of_command()

    def wanted(file: pathlib.Path) -> bool:
        return re.search(options.only, str(file.relative_to(ROOT / "tests"))) is not None

    pairs = [pair for pair in pairs_of(PAIRS) + pairs_of(PAIRS / "held_out") if wanted(pair.file)]
    healthy = [file for file in sorted(HEALTHY.glob("*.py")) if file.stem != "toy" and wanted(file)]
    if not pairs and not healthy:
        say(f"no training matches {options.only!r}; there are those of {PAIRS} and {HEALTHY}")
        return 2
    busy = load_of_others()
    if busy:
        say(f"BUSY: {busy}")
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(options.cli, options.python, pathlib.Path(options.runs or scratch).absolute(), options.repeat)
        results, outcomes = run_all(runner, pairs, healthy)
    if not options.json:
        for title, held_out in (("Built-in bottlenecks:", False), ("Held out:", True)):
            part = [result for result in results if result.pair.held_out == held_out]
            if part:
                print_pairs(title, part)
        if outcomes:
            print_healthy(outcomes)
        print(f"\n**{busy}**\n" if busy else "")
    for name, value in figures(results, outcomes).items():
        print(json.dumps({"name": name, "value": value}) if options.json else f"{name} {value:g}")
    return report_problems(results, outcomes, options.findings_only)


if __name__ == "__main__":
    sys.exit(main())
