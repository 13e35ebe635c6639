"""python -m smdebug.rules.rule_invoker, as a user types it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import trainwarden

import smdebug
from runs import weight_at, write_modes
from smdebug.rules import command_line
from smdebug_folder import SmdebugFolder

RULES = str(Path(__file__).parent / "custom_rules.py")


@pytest.fixture
def run(run_dir: Path) -> str:
    write_modes(run_dir)
    return str(run_dir)


def journals(run: str) -> list[str]:
    return sorted(folder.name for folder in Path(run, "journal").glob("watch-*"))


def test_as_a_program(run: str) -> None:
    paths = [str(Path(smdebug.__file__).parents[1]), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    command = [sys.executable, "-m", "smdebug.rules.rule_invoker", "--trial-dir", run]
    command += ["--rule-name", "custom_rules.CustomGradientRule", "--rule-parameters", "threshold=1.6"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "SMDEBUG_LOG_LEVEL": "off"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout == "CustomGradientRule  IssuesFound  fired at step 3 (train 2): its condition is met\n"
    assert journals(run) == ["watch-0"]


def test_a_rule_of_a_file(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--trial-dir", run, "--rule-file", RULES, "--rule-name", "SumsAreSmall"]
    assert command_line.main([*arguments, "--rule-parameters", "limit=40"]) == 3
    assert "fired at step 2" in capsys.readouterr().out
    assert command_line.main([*arguments, "--rule-parameters", "limit=1e9"]) == 0
    assert command_line.main([*arguments, "--rule-parameters", "limit=40", "--end-step", "2"]) == 0
    assert command_line.main([*arguments, "--rule-parameters", "limit=40", "--start-step", "3"]) == 3
    assert "fired at step 3" in capsys.readouterr().out.splitlines()[-1]


def test_other_trials(run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with trainwarden.Hook(tmp_path / "other", include=["w"], save=1) as hook:
        for step in range(6):
            hook.save_tensor("weight", weight_at(step if step < 4 else 100))
            hook.step()
    arguments = ["--trial-dir", run, "--other-trials", str(tmp_path / "other")]
    assert command_line.main([*arguments, "--rule-file", RULES, "--rule-name", "WeightsDiffer"]) == 3
    assert "fired at step 4" in capsys.readouterr().out


def test_a_rule_that_fails(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["--trial-dir", run, "--rule-file", RULES, "--rule-name", "Raises"]) == 1
    assert "Raises  Error  " in capsys.readouterr().out


def test_built_in_rules(run: str, shared_trials: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["--trial-dir", run, "--rule-name", "ExplodingTensor"]) == 0
    vanishing = ["--rule-name", "VanishingGradient", "--rule-parameters", "threshold=1e9"]
    assert command_line.main(["--trial-dir", run, *vanishing]) == 3
    recorded = str(shared_trials / "cnn_wgl_every_step")
    assert command_line.main(["--trial-dir", recorded, *vanishing]) == 3
    assert "VanishingGradient  IssuesFound  fired at step 0" in capsys.readouterr().out
    assert not Path(recorded, "journal").exists()


def test_a_live_folder_of_smdebug_without_following(run_dir: Path) -> None:
    SmdebugFolder(run_dir).step(0)
    arguments = ["--trial-dir", str(run_dir), "--rule-name", "ExplodingTensor", "--no-follow"]
    assert command_line.main(arguments) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rule-name", "ExplodingTensr"], 'did you mean "ExplodingTensor"'),
        (["--rule-name", "ExplodingTensor", "--start-step", "2"], "leave out --other-trials"),
        (["--rule-name", "ExplodingTensor", "--rule-parameters", "threshold"], "expected NAME=VALUE"),
        (["--rule-name", "no_such_module.Rule"], "no module no_such_module"),
        (["--rule-name", "Nothing", "--rule-file", RULES], "it has Rule, CustomGradientRule, SumsAreSmall"),
        (["--rule-name", "Raises", "--rule-file", "nowhere.py"], "no file nowhere.py"),
        (["--rule-name", "Raises", "--rule-file", "rules.txt"], "expected a Python file"),
        (
            ["--rule-name", "CustomGradientRule", "--rule-file", RULES, "--rule-parameters", "limit=1"],
            "CustomGradientRule has no parameter limit; it has threshold",
        ),
    ],
)
def test_wrong_usage(run: str, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["--trial-dir", run, *arguments]) == 2
    assert words in capsys.readouterr().err
