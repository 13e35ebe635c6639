"""The programs of docs/guide/coming-from-smdebug.md are those of examples/coming_from_smdebug, and they run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

REPOSITORY = Path(__file__).resolve().parents[3]
EXAMPLES = REPOSITORY / "examples" / "coming_from_smdebug"
GUIDE = (REPOSITORY / "docs/guide/coming-from-smdebug.md").read_text()
RULES_FIRED = 3


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def contains(lines: list[str], part: list[str]) -> bool:
    return any(lines[index : index + len(part)] == part for index in range(len(lines) - len(part) + 1))


def run(command: list[str], folder: Path, expected_code: int = 0) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("TRAINWARDEN", "SMDEBUG"))}
    environment |= {"OMP_NUM_THREADS": "1", "SMDEBUG_LOG_LEVEL": "error"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == expected_code, done.stdout + done.stderr
    return done.stdout


def example(name: str) -> str:
    return str(EXAMPLES / name)


@pytest.fixture(scope="module")
def circle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run that the guide's script leaves."""
    folder = tmp_path_factory.mktemp("guide")
    run([sys.executable, example("train.py"), "--out-dir", "runs/circle"], folder)
    return folder


def test_each_snippet_is_in_a_program() -> None:
    programs = [lines_of(path.read_text()) for path in sorted(EXAMPLES.glob("*.py"))]
    snippets = re.findall(r"```python\n(.*?)```", GUIDE, re.S)
    assert len(snippets) >= 4
    for snippet in snippets:
        assert any(contains(program, lines_of(snippet)) for program in programs), f"in no example:\n{snippet}"


def test_the_script_and_the_notebook(circle: Path) -> None:
    names, steps, *weights = run([sys.executable, example("look_inside.py"), "runs/circle"], circle).splitlines()
    assert names == str([f"gradient/Net_{name}" for name in ("hidden.bias", "hidden.weight", "out.bias", "out.weight")])
    assert steps == "[0, 10, 20, 30, 40] 20"
    assert [line.split(" ", 1)[0] for line in weights] == ["0", "10", "20"]


def test_the_program_reads_it(circle: Path) -> None:
    assert "gradient/Net_hidden.weight" in run(["trainwarden", "tensors", "circle"], circle)
    run(["trainwarden", "value", "circle", "gradient/Net_hidden.weight", "--mode", "train", "--step", "100"], circle)
    run(["trainwarden", "check", "circle", "--rule", "VanishingGradient", "--rule", "ExplodingTensor"], circle)


def test_there_and_back(circle: Path) -> None:
    run(["trainwarden", "export", "circle", "--to", "smdebug", "there"], circle)
    back = run([sys.executable, example("look_inside.py"), "there"], circle)
    assert back == run([sys.executable, example("look_inside.py"), "runs/circle"], circle)


def test_the_rule(circle: Path) -> None:
    run([sys.executable, example("train.py"), "--out-dir", "runs/steep", "--lr", "10"], circle)
    answer = run([sys.executable, example("judge.py"), "runs/circle"], circle)
    assert answer.splitlines() == ["GradientsAreTiny NoIssuesFound", "ExplodingTensor NoIssuesFound"]
    answer = run([sys.executable, example("judge.py"), "runs/steep"], circle)
    assert answer.splitlines()[0] == "GradientsAreTiny IssuesFound"


def test_the_rule_runner(circle: Path) -> None:
    command = [sys.executable, "-m", "smdebug.rules.rule_invoker", "--trial-dir", "runs/circle"]
    command += ["--rule-name", "GradientsAreTiny", "--rule-file", example("my_rule.py")]
    run(command, circle)


def test_the_training_is_stopped(tmp_path: Path) -> None:
    import trainwarden

    command = ["trainwarden", "run", "--name", "ruined", "--rule", "VanishingGradient", "--rule", "LossNotDecreasing"]
    command += ["--on-fire", "stop", "--", sys.executable, example("train.py"), "--lr", "10", "--steps", "1000000"]
    run(command, tmp_path, RULES_FIRED)
    trial = trainwarden.open(tmp_path / "runs" / "ruined")
    assert trial.state is trainwarden.RunState.STOPPED
    assert trial.steps("train")[-1] < 100000
