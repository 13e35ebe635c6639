"""The study of diagnoses: runs trainings with one fault each, and healthy ones, and says how often the diagnosis is right.

    python3 tests/diagnosis/study.py --cli build/release/bin/trainwarden --python build/venv/bin/python3 tuning reporting

Each program of a half (tests/diagnosis/<half>/families, with what is wrong in cases.json) is run as a user would run it:
`trainwarden run --rules default`, unchanged, at the defaults. Names of the program's own are shuffled before, so that no
name gives a fault away. Answers are kept by the hash of program, case, seed and version, so that the study can be cut
short and goes on where it ended; `--shard K/N` runs a part of it.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import hashlib
import json
import keyword
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
# A diagnosis that is less sure than this is told as a possibility, and alarms nobody.
ALARMING = 0.5
LIMIT_SECONDS = 150
RULE_FIRED = 3  # exit code of `trainwarden run`
# Halves of which only totals are printed: who has seen their answers one by one tunes on them, wanted or not.
REPORTED_ONLY = ("reporting", "sealed")


class Shuffle(ast.NodeTransformer):
    """Gives the names that a program defines itself new ones, the same in each place."""

    def __init__(self, tree: ast.AST, seed: int) -> None:
        self.names: dict[str, str] = {}
        made = random.Random(seed)
        for name in sorted(self._own(tree)):
            self.names[name] = f"v{made.randrange(10**6, 10**7)}"

    @staticmethod
    def _own(tree: ast.AST) -> set[str]:
        """Variables, functions and classes; not attributes, arguments by keyword, or what is imported."""
        stored: set[str] = set()
        kept = {"forward", "self", "cls", "main"} | set(dir(builtins))
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                stored.add(node.id)
            elif isinstance(node, (ast.ClassDef,)):
                stored.add(node.name)
            elif isinstance(node, ast.keyword) and node.arg:
                kept.add(node.arg)
            elif isinstance(node, ast.Attribute):
                kept.add(node.attr)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                kept.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
            elif isinstance(node, ast.arg):
                kept.add(node.arg)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                kept.add(node.name)
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                kept.update(node.names)
        return {name for name in stored - kept if not name.startswith("__") and not keyword.iskeyword(name)}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.name = self.names.get(node.name, node.name)
        return node


def shuffled(source: str, seed: int) -> str:
    tree = ast.parse(source)
    return ast.unparse(Shuffle(tree, seed).visit(tree))


class Study:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.folder = Path(options.out).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.version = options.version or _version_of(options)

    def trials(self, half: str) -> list[tuple[dict[str, Any], int]]:
        cases = json.loads((Path(self.options.corpus) / half / "cases.json").read_text())
        chosen = [(case, seed) for seed in range(self.options.seeds) for case in cases]
        if self.options.only:
            chosen = [(case, seed) for case, seed in chosen if self.options.only in f"{case['family']}-{case['case']}"]
        if self.options.shard:
            which, of = map(int, self.options.shard.split("/"))
            chosen = chosen[which - 1 :: of]
        return chosen

    def answer(self, half: str, case: dict[str, Any], seed: int) -> dict[str, Any]:
        program = Path(self.options.corpus) / half / "families" / f"{case['family']}.py"
        source = program.read_text()
        identity = hashlib.sha256(f"{source}\0{case['case']}\0{seed}\0{self.version}".encode()).hexdigest()[:24]
        kept = self.folder / "answers" / f"{identity}.json"
        run = self.folder / "runs" / f"{half}-{case['family']}-{case['case']}-{seed}"
        if kept.exists() and not (self.options.again and run.exists()):
            return json.loads(kept.read_text())
        if self.options.again and run.exists():
            answer = json.loads(kept.read_text()) if kept.exists() else {}
        else:
            answer = self._run(run, source, case, seed)
        answer["diagnosis"] = self._diagnose(run)
        if not self.options.keep:
            shutil.rmtree(run, ignore_errors=True)
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(answer))
        return answer

    def _run(self, run: Path, source: str, case: dict[str, Any], seed: int) -> dict[str, Any]:
        shutil.rmtree(run, ignore_errors=True)
        run.parent.mkdir(exist_ok=True)
        work = self.folder / "work" / run.name
        work.mkdir(parents=True, exist_ok=True)
        (work / "train.py").write_text(shuffled(source, seed * 1000 + case["case"]))
        command = [self.options.cli, "run", "--runs", str(run.parent), "--name", run.name, "--rules", "default", "--", self.options.python, "train.py"]
        environment = {**os.environ, "CASE": str(case["case"]), "SEED": str(seed), "OMP_NUM_THREADS": "1"}
        began = time.monotonic()
        try:
            done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS)
            status, output = done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired as expired:
            status, output = -1, str(expired.stdout or "")
        shutil.rmtree(work, ignore_errors=True)
        return {"status": status, "seconds": time.monotonic() - began, "output": output[-4000:]}

    def _diagnose(self, run: Path) -> dict[str, Any]:
        done = subprocess.run([self.options.cli, "diagnose", str(run), "--json"], capture_output=True, text=True, timeout=60)
        if done.returncode not in (0, 3):
            return {"error": done.stderr.strip(), "findings": [], "diagnosis": None}
        return json.loads(done.stdout)


def check_unchanged(half: str) -> None:
    """Nobody has changed what is only reported on."""
    folder = HERE / half
    files = [folder / "cases.json", *sorted((folder / "families").glob("*.py"))]
    found = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    if found != (HERE / f"{half}.sha256").read_text().split()[0]:
        sys.exit(f"study.py: the {half} half was changed: its hash is {found}, not that of {half}.sha256")


def _version_of(options: argparse.Namespace) -> str:
    done = subprocess.run([options.cli, "--version"], capture_output=True, text=True)
    return done.stdout.strip()


def causes_told(answer: dict[str, Any]) -> list[str]:
    """Those that a user is told of without asking for more, the first one first."""
    return [finding["cause"] for finding in answer["diagnosis"]["findings"][:4]]


def has_alarmed(answer: dict[str, Any]) -> bool:
    """There is a diagnosis at the end, or some rule has fired on the way."""
    return answer["diagnosis"]["diagnosis"] is not None or answer.get("status") == RULE_FIRED


def is_right(cause: str, case: dict[str, Any]) -> bool:
    return cause == case["cause"] or cause in case.get("also", [])


def score(results: list[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
    faulty = [(case, answer) for case, answer in results if case["faulty"]]
    healthy = [(case, answer) for case, answer in results if not case["faulty"]]
    found = [any(is_right(cause, case) for cause in causes_told(answer)) for case, answer in faulty]
    first = [bool(causes_told(answer)) and is_right(causes_told(answer)[0], case) for case, answer in faulty]
    named = [(told := answer["diagnosis"]["diagnosis"]) is not None and is_right(told["cause"], case) for case, answer in faulty]
    alarms = [has_alarmed(answer) for _, answer in healthy]
    leads = [
        finding["step"] - case["knowable_step"]
        for case, answer in faulty
        for finding in answer["diagnosis"]["findings"][:4]
        if is_right(finding["cause"], case) and case.get("knowable_step") is not None
    ]
    bins: dict[str, list[bool]] = {}
    for case, answer in results:
        told = answer["diagnosis"]["diagnosis"]
        if told is not None:
            bins.setdefault(f"{int(told['confidence'] * 10) / 10:.1f}", []).append(case["faulty"] and is_right(told["cause"], case))
    percent = lambda flags: round(100 * sum(flags) / len(flags), 1) if flags else None  # noqa: E731
    return {
        "faulty": len(faulty),
        "healthy": len(healthy),
        "found_pct": percent(found),
        "first_pct": percent(first),
        "named_pct": percent(named),
        "false_alarm_pct": percent(alarms),
        "lead_steps": statistics.median(leads) if leads else None,
        "calibration": {key: {"told": len(flags), "right_pct": percent(flags)} for key, flags in sorted(bins.items())},
    }


def print_cases(half: str, results: list[tuple[dict[str, Any], dict[str, Any]]], seeds: list[int]) -> None:
    for (case, answer), seed in zip(results, seeds):
        told = answer["diagnosis"]
        listed = ", ".join(f"{each['cause']} {each['confidence']:.2f}" for each in told["findings"][:4])
        if case["faulty"]:
            causes = causes_told(answer)
            mark = "FIRST" if causes and is_right(causes[0], case) else "found" if any(is_right(c, case) for c in causes) else "MISS "
        else:
            mark = "ALARM" if has_alarmed(answer) else "quiet"
        print(f"{mark} {half} {case['family']}-{case['case']}-{seed} [{case['cause'] or 'healthy'}] → {listed or '-'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("halves", nargs="+", metavar="HALF", help="tuning, reporting, sealed")
    parser.add_argument("--cli", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--corpus", default=str(HERE))
    parser.add_argument("--out", default="build/diagnosis")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--shard", default="", help="K/N: the K-th of N parts")
    parser.add_argument("--only", default="", help="cases in whose name this is")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--version", default="", help="of what is studied, for the answers that are kept")
    parser.add_argument("--again", action="store_true", help="diagnose runs that were kept anew")
    parser.add_argument("--keep", action="store_true", help="keep the runs")
    parser.add_argument("--first-at-least", type=float, default=0, help="in percent, else it fails")
    parser.add_argument("--alarms-at-most", type=float, default=100, help="the same of healthy trainings")
    parser.add_argument("--cases", action="store_true", help="print the answer to each case of a half that is only reported on, too")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.cli, options.python = os.path.abspath(options.cli), os.path.abspath(options.python)
    for half in REPORTED_ONLY:
        if half in options.halves and options.corpus == str(HERE):
            check_unchanged(half)
    study, document = Study(options), {}
    for half in options.halves:
        trials = study.trials(half)
        with ThreadPoolExecutor(options.jobs) as pool:
            answers = []
            for number, answer in enumerate(pool.map(lambda trial: study.answer(half, *trial), trials), 1):
                answers.append(answer)
                if sys.stderr.isatty():
                    print(f"\r{half}: {number} of {len(trials)}", end="", file=sys.stderr, flush=True)
        results = [(case, answer) for (case, _), answer in zip(trials, answers)]
        document[half] = score(results)
        if not options.json and (half not in REPORTED_ONLY or options.cases):
            print_cases(half, results, [seed for _, seed in trials])
    if options.json:
        print(json.dumps(document, indent=2))
    else:
        for half, figures in document.items():
            for name, value in figures.items():
                print(f"diagnosis.{name} {half} {value}")
    return 0 if all(meets(figures, options) for figures in document.values()) else 1


def meets(figures: dict[str, Any], options: argparse.Namespace) -> bool:
    """No figure at all is none that was met."""
    first, alarms = figures["first_pct"], figures["false_alarm_pct"]
    if options.first_at_least > 0 and (first is None or first < options.first_at_least):
        return False
    return options.alarms_at_most >= 100 or (alarms is not None and alarms <= options.alarms_at_most)


if __name__ == "__main__":
    sys.exit(main())
