"""Tensors that come in parts, those of which only statistics come, and steps of which several are one call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import trainwarden as tw
from trainwarden import rules

WHOLE = np.random.default_rng(7).standard_normal((6, 10)).astype(np.float32)
NUMBERS = {"min": -2.0, "max": 3.0, "abs_min": 0.5, "sum": 1.5, "abs_sum": 5.5, "square_sum": 13.25}


def save_in_parts(hook: tw.Hook, name: str = "w", replicas: int = 1) -> None:
    for replica in range(replicas):
        for row, column in ((3, 0), (0, 5), (0, 0), (3, 5)):
            part = WHOLE[row : row + 3, column : column + 5]
            hook.save_shard(name, part, WHOLE.shape, (row, column), replica)


def test_the_values_of_parts_are_those_of_the_whole(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True) as hook:
        save_in_parts(hook)
        hook.step()
    trial = tw.open(run_dir)
    assert np.array_equal(np.asarray(trial.value("w", 0)), WHOLE)
    assert trial.losses == []


def test_the_statistics_of_parts_are_those_of_the_whole_whatever_copies_come(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, keep=["statistics", "histogram"]) as hook:
        save_in_parts(hook, replicas=2)
        hook.save_tensor("as it is", WHOLE)
        hook.step()
        hook.flush()
        assert hook.report().statistics == 2
    trial = tw.open(run_dir)
    assert trial.statistics("w", 0) == trial.statistics("as it is", 0)
    assert trial.shape("w", 0) == WHOLE.shape


def test_a_tensor_of_which_parts_are_missing_is_lost_and_counted(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        number = hook.declare("w")
        hook.save_shard(number, WHOLE[:3], WHOLE.shape, (0, 0))
        hook.step()
        hook.save_shard(number, WHOLE[3:], WHOLE.shape, (3, 0))
        hook.step()
        hook.save_shard(number, WHOLE, WHOLE.shape, (1, 0))  # reaches beyond
        hook.step()
        (loss,) = hook.report().losses
    assert (loss.cause, loss.count) == ("unsupported", 3)
    assert "w: 30 of its 60 elements came" in loss.first_message
    assert tw.open(run_dir).tensor_names() == []


def test_wrong_arguments_raise(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True) as hook:
        with pytest.raises(ValueError, match="dtype"):
            hook.save_statistics("x", (4,), "float33", **NUMBERS)
        with pytest.raises(ValueError):
            hook.save_statistics("x", (-4,), **NUMBERS)
        with pytest.raises(ValueError):
            hook.save_shard("x", WHOLE, (6, -10), (0, 0))
        with pytest.raises(TypeError):
            hook.save_shard("x", object(), (6, 10), (0, 0))
        with pytest.raises(ValueError):
            hook.end_steps(0)


def test_statistics_that_the_program_has_computed_are_marked(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True) as hook:
        hook.save_statistics("x", (2, 2), "bfloat16", **NUMBERS, nan_count=1)
        hook.save_statistics(hook.declare("y"), (4,), **NUMBERS)
        hook.save_tensor("exact", WHOLE)
        hook.step()
    trial = tw.open(run_dir)
    found = trial.statistics("x", 0)
    assert found.approximate and trial.statistics("y", 0).approximate and not trial.statistics("exact", 0).approximate
    assert (found.count, found.nan_count, found.finite_count) == (4, 1, 3)
    assert (found.min, found.max, found.abs_max, found.mean, found.l1) == (-2, 3, 3, 0.5, 5.5)
    assert found.hash is None and found.histogram is None


def test_numbers_that_cannot_be_of_one_tensor_are_lost_and_counted(run_dir: Path) -> None:
    wrong = [{"nan_count": 5}, {"min": 4.0}, {"square_sum": -1.0}, {"sum": float("nan")}]
    with tw.Hook(run_dir, save_all=True) as hook:
        for each in wrong:
            hook.save_statistics("x", (4,), **{**NUMBERS, **each})
        hook.step()
        (loss,) = hook.report().losses
    assert (loss.cause, loss.count) == ("unsupported", len(wrong))
    assert "5 NaN" in loss.first_message
    assert tw.open(run_dir).tensor_names() == []


def test_rules_take_them_as_they_take_others(run_dir: Path) -> None:
    with tw.Hook(run_dir, include_collections=["gradients"], save=1) as hook:
        gradient = hook.declare("gradient/w", ["gradients"])
        for step in range(4):
            hook.save_statistics(gradient, (4,), **NUMBERS, nan_count=1 if step == 2 else 0)
            hook.step()
    report = rules.run(run_dir, "ExplodingTensor")
    (status,) = report.statuses
    assert status.status == rules.RuleState.ISSUES_FOUND
    assert [verdict.global_step for verdict in report.verdicts] == [2]


@pytest.mark.parametrize("approximate", [False, True])
def test_what_is_rounded_is_not_said_to_stay_the_same(run_dir: Path, approximate: bool) -> None:
    with tw.Hook(run_dir, save_all=True, save=1, keep="statistics") as hook:
        for _ in range(4):
            if approximate:
                hook.save_statistics("w", (4,), **NUMBERS)
            else:
                hook.save_tensor("w", WHOLE)
            hook.step()
    (status,) = rules.run(run_dir, "UnchangedTensor:tensor_regex=w").statuses
    assert (status.status == rules.RuleState.ISSUES_FOUND) != approximate, status
    assert not approximate or "approximate" in status.details, status


READ = """
import json, runpy, sys
read_run = runpy.run_path(sys.argv[1])["read_run"]
rows = [(name, form, int(row["approximate"]), float(row["max"])) for _, _, name, form, row in read_run(sys.argv[2])]
print(json.dumps(rows))
"""


@pytest.fixture
def program() -> str:
    """The one of this wheel; or, without a wheel, the one that TRAINWARDEN_PROGRAM names."""
    return os.environ.get("TRAINWARDEN_PROGRAM") or str(Path(sys.executable).parent / "trainwarden")


def run_of(folder: Path, change: float, approximate: bool = True) -> Path:
    elements = np.array([-2, 0.5, 3, 1000 * (1 + change)], np.float32)
    with tw.Hook(folder, save_all=True, keep="statistics") as hook:
        if approximate:
            exact = tw.compute_statistics(elements)
            names = ("min", "max", "abs_min", "sum", "abs_sum", "square_sum")
            hook.save_statistics("x", (4,), **{name: getattr(exact, name) for name in names})
        else:
            hook.save_tensor("x", elements)
        hook.step()
    return folder


def test_a_comparison_of_runs_says_that_it_is_approximate(program: str, tmp_path: Path) -> None:
    def diff(a: Path, b: Path, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, "diff", str(a), str(b), *options], capture_output=True, text=True, check=False)

    one = run_of(tmp_path / "one", 0)
    rounded, exact = run_of(tmp_path / "rounded", 1e-6), run_of(tmp_path / "exact", 0, approximate=False)
    other = run_of(tmp_path / "other", 0.1)
    for like in (one, rounded, exact):
        done = diff(one, like)
        assert done.returncode == 0, done.stdout
        assert "1 times by approximate statistics" in done.stdout and "bit for bit" not in done.stdout
        told = json.loads(diff(one, like, "--json").stdout)
        assert (told["same"], told["approximate"]) == (None, 1)
    done = diff(one, other)
    assert done.returncode == 6 and "x: max: 1000 and 1100" in done.stdout, done.stdout
    assert json.loads(diff(one, other, "--json").stdout)["same"] is False
    same = diff(exact, exact)
    assert "approximate" not in same.stdout and "bit for bit" in same.stdout


def test_a_reader_of_the_documents_finds_the_mark(run_dir: Path) -> None:
    read_run = Path(__file__).parents[3] / "docs" / "format" / "read_run.py"
    run_of(run_dir / "rounded", 0)
    run_of(run_dir / "exact", 0, approximate=False)
    for name, expected in (("rounded", 1), ("exact", 0)):
        command = [sys.executable, "-c", READ, str(read_run), str(run_dir / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == [["x", "statistics", expected, 1000.0]]


def test_steps_of_one_call_end_at_once_and_what_is_wanted_at_one_is_kept_at_the_last(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=10) as hook:
        hook.set_mode("train")
        for call in range(6):
            hook.begin_steps(4)
            assert hook.wants("w") == (call in (0, 2, 5))
            hook.save_tensor("w", WHOLE)
            end = hook.end_steps(4)
            assert (end.global_step, end.mode_step) == (4 * call + 3, 4 * call + 3)
        hook.begin_steps(4)
        assert hook.end_steps(2).global_step == 25  # the last call may have fewer
        assert hook.step().global_step == 26
    assert tw.open(run_dir).tensor("w").steps("train") == [3, 11, 23]
