"""The programs of docs/guide/pytorch.md are those of examples/quickstart, and they run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
EXAMPLES = REPOSITORY / "examples" / "quickstart"


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def contains(lines: list[str], part: list[str]) -> bool:
    return any(lines[index : index + len(part)] == part for index in range(len(lines) - len(part) + 1))


def run_example(name: str, folder: Path, **more: str) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRAINWARDEN")}
    environment |= {"OMP_NUM_THREADS": "1", **more}
    command = [sys.executable, str(EXAMPLES / name)]
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


def test_each_snippet_is_in_a_program() -> None:
    programs = [lines_of(path.read_text()) for path in sorted(EXAMPLES.glob("*.py"))]
    snippets = re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs/guide/pytorch.md").read_text(), re.S)
    assert len(snippets) >= 4
    for snippet in snippets:
        part = lines_of(snippet)
        assert any(contains(program, part) for program in programs), f"in no example:\n{snippet}"


def test_the_array_program_leaves_a_run(tmp_path: Path) -> None:
    import trainwarden

    run_example("any_framework.py", tmp_path)
    trial = trainwarden.open(tmp_path / "runs" / "numpy")
    assert len(trial.steps("global")) == 101
    assert abs(trial.value("weight", 99) - [1.0, -2.0, 3.0]).max() < 1e-3


def test_the_programs_with_a_hook_of_their_own(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    run_example("explicit.py", tmp_path)
    answer = run_example("look_inside.py", tmp_path)
    assert answer.startswith("completed 2000 steps\n") and "gradient/0.weight    step 1900: mean |g| " in answer
    assert run_example("own_rule.py", tmp_path).splitlines() == [
        "LossIsFinite NoIssuesFound",
        "weights_stay_small NoIssuesFound",
        "VanishingGradient NoIssuesFound",
    ]


def test_the_untouched_program(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    import trainwarden

    alone = run_example("train.py", tmp_path)
    run_dir = {"TRAINWARDEN_ATTACH": "1", "TRAINWARDEN_RUN_DIR": str(tmp_path / "sine")}
    watched = run_example("train.py", tmp_path, TRAINWARDEN_BUDGET="0", **run_dir)  # or few of its short steps are kept
    assert watched == alone
    trial = trainwarden.open(tmp_path / "sine")
    assert len(trial.steps("train")) == 2000
    assert trial.has_tensor("gradient/0.weight") and trial.has_tensor("MSELoss_output_0")
