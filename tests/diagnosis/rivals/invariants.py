"""TrainCheck on a program: learns invariants from healthy variants of it, and checks them in another.

As its authors ask: reference runs that are known to be good, a run that is traced for these invariants only, and a check
offline. Two things are done in its favour: the references are the healthy variants of the same program that are written
most like the one that is checked, and an invariant that does not hold when a reference is run again is not believed.
"""

from __future__ import annotations

import ast
import difflib
import json
import shutil
from pathlib import Path
from typing import Any, Callable

from variant import variant

MOST_REFERENCES = 2
SAMPLING = ["--warm-up-steps", "10", "--sampling-interval", "10"]  # as in its documentation, for both kinds of runs
LIMIT_SECONDS = 300
# PyTorch 1.13 has an object whose repr fails, which TrainCheck asks for.
MENDED = """
try:
    import torch.onnx._internal.diagnostics.infra._infra as infra
    infra.DiagnosticContext.__repr__ = object.__repr__
except Exception:
    pass
"""


def models_of(source: str) -> list[str]:
    """Names whose parameters() the program asks for: what its author would give as the models to track. Not one that is
    None, on which TrainCheck fails."""
    tree, found = ast.parse(source), []
    left_out = {"self"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None:
            left_out.update(each.id for each in node.targets if isinstance(each, ast.Name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "parameters" and isinstance(node.value, ast.Name):
            if node.value.id not in (*left_out, *found):
                found.append(node.value.id)
    return found


def nearest(source: str, case: int, healthy: list[int]) -> list[int]:
    """The healthy variants that are written most like this one, such as with the same optimizer."""
    own = variant(source, case).splitlines()
    likeness = {each: difflib.SequenceMatcher(None, own, variant(source, each).splitlines()).ratio() for each in healthy if each != case}
    return sorted(sorted(likeness, key=lambda each: -likeness[each])[:MOST_REFERENCES])


class TrainCheck:
    def __init__(self, programs: Path, learned: Path, run: Callable[..., tuple[int, str]]) -> None:
        self.programs, self.learned, self.run = programs, learned, run

    def check(self, work: Path, source: str, case: int, healthy: list[int], seed: int) -> dict[str, Any]:
        references = nearest(source, case, healthy)
        if not references:
            return {"messages": [], "failure": "no other healthy variant to learn from"}
        try:
            invariants, doubtful = self._learn(source, references, seed)
            violated = self._violated(work, source, case, seed, invariants)
        except RuntimeError as error:
            return {"messages": [], "failure": str(error)}
        return {"messages": [each for each in violated if each["code"] not in doubtful], "failure": ""}

    def _learn(self, source: str, references: list[int], seed: int) -> tuple[Path, list[str]]:
        folder = self.learned / "-".join(map(str, references))
        invariants, doubtful = folder / "invariants.json", folder / "doubtful.json"
        if doubtful.exists():
            return invariants, json.loads(doubtful.read_text())
        shutil.rmtree(folder, ignore_errors=True)
        traces = [self._reference(source, each, seed) for each in references]
        folder.mkdir(parents=True)
        self._call("traincheck-infer", ["-f", *map(str, traces), "-o", str(invariants)], folder, 0, seed)
        again = [self._violated(folder / f"again-{each}", source, each, seed, invariants) for each in references]
        doubtful.write_text(json.dumps([violation["code"] for violations in again for violation in violations]))
        return invariants, json.loads(doubtful.read_text())

    def _reference(self, source: str, case: int, seed: int) -> Path:
        trace = self.learned / f"reference-{case}"
        if not (trace / "done").exists():
            self._collect(self.learned / f"work-{case}", source, case, seed, trace, [])
            (trace / "done").touch()
        return trace

    def _violated(self, work: Path, source: str, case: int, seed: int, invariants: Path) -> list[dict[str, Any]]:
        trace, results = work / "trace", work / "results"
        self._collect(work, source, case, seed, trace, ["--invariants", str(invariants)])
        self._call("traincheck-check", ["-f", str(trace), "-i", str(invariants), "-o", str(results), "--no-html-report"], work, case, seed)
        summary = next(results.glob("*/violations_summary.json"), None)
        violations = json.loads(summary.read_text())["violations"] if summary else []
        shutil.rmtree(trace)
        earliest_first = sorted(violations, key=lambda each: each["first_step"] or 0)
        return [{"code": each["display_name"], "severity": "error", "step": each["first_step"], "text": ""} for each in earliest_first]

    def _collect(self, work: Path, source: str, case: int, seed: int, trace: Path, more: list[str]) -> None:
        work.mkdir(parents=True, exist_ok=True)
        (work / "train.py").write_text(source)
        (work / "sitecustomize.py").write_text(MENDED)
        shutil.rmtree(trace, ignore_errors=True)
        arguments = ["--pyscript", "train.py", "--output-dir", str(trace), *SAMPLING, *more]
        models = models_of(variant(source, case))
        if models:
            arguments += ["--models-to-track", *models]
        self._call("traincheck-collect", arguments, work, case, seed)

    def _call(self, program: str, arguments: list[str], work: Path, case: int, seed: int) -> None:
        status, output = self.run([str(self.programs / program), *arguments], work, case, seed, LIMIT_SECONDS)
        if status != 0:
            raise RuntimeError(f"{program} failed ({status}): {output[-300:]}")
