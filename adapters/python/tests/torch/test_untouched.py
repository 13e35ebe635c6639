"""Programs that are captured say, do and compute what they do without us, to the last byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from running import HAS_SCALER, TORCH_2, Runner, needs_torch_2

PROGRAMS = [
    ("resnet_like.py",),
    ("hf_style.py",),
    ("gan.py",),
    ("accumulation.py",),
    ("eval_loop.py",),
    ("shared.py",),
    ("changing.py",),
    ("lbfgs.py",),
    ("autocast.py",),
    ("checkpointed.py",),
    ("scripted.py",),
    ("saving.py",),
    ("looked_up.py",),
    ("wrapped_optimizer.py",),
    ("odd_settings.py",),
    ("scaled_loss.py",),
    ("tried_first.py",),
    ("tried_first.py", "asked"),
    ("predicting.py",),
    ("parallel.py",),
    ("workers.py", "fork"),
    ("workers.py", "spawn"),
    ("ddp.py", "spawn"),
    ("failing.py", "loop"),
    ("failing.py", "caught"),
    ("exiting.py", "exit"),
    ("exiting.py", "message"),
    ("exiting.py", "abrupt"),
    ("exiting.py", "interrupt"),
    ("exiting.py", "terminate"),
]
if TORCH_2:
    PROGRAMS += [("functional.py",), ("compiled_late.py", "model"), ("compiled_late.py", "export")]
    PROGRAMS += [
        ("compiled.py", backend, how)
        for backend in ("eager", "aot_eager")
        for how in ("module", "in_place", "function")
    ]
if HAS_SCALER:
    PROGRAMS += [("scaled.py",)]


@pytest.mark.parametrize("program", PROGRAMS, ids="-".join)
def test_nothing_that_the_program_does_changes(runner: Runner, program: tuple[str, ...]) -> None:
    run = runner.captured(*program)
    assert run.attached.stdout == run.plain.stdout
    assert run.attached.stderr == run.plain.stderr
    assert run.attached.exit_code == run.plain.exit_code
    assert run.run_dir.exists()


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_an_exception_inside_torch_is_the_same_but_for_frames(runner: Runner, where: str) -> None:
    run = runner.captured("failing.py", where)
    assert run.attached.stdout == run.plain.stdout
    assert run.attached.exit_code == run.plain.exit_code == 1
    assert run.attached.stderr.splitlines()[-1] == run.plain.stderr.splitlines()[-1]
    assert own_lines(run.attached.stderr) == own_lines(run.plain.stderr)


def own_lines(traceback: str) -> list[str]:
    """Those of the program itself."""
    return re.findall(r'File ".*/programs/.*', traceback)


@needs_torch_2
@pytest.mark.parametrize("how", ["module", "in_place", "function"])
def test_what_is_wanted_changes_from_step_to_step_without_a_recompilation(
    runner: Runner, tmp_path: Path, how: str
) -> None:
    config = {"save_all": True, "save": {"save_interval": 2}}
    environment = runner.attached_environment(tmp_path / "run", config)
    ended = runner.start("compiled.py", "eager", how, environment=environment)
    assert ended == runner.captured("compiled.py", "eager", how).plain


@pytest.mark.skipif(not TORCH_2, reason="the launcher of torch 1.13 does not work under Python 3.11")
def test_torch_distributed_run(runner: Runner) -> None:
    run = runner.captured("ddp.py", "run", python=("-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"))
    assert (run.plain.stdout, run.plain.exit_code) == (run.attached.stdout, 0), run.plain.stderr
    assert run.attached.exit_code == 0, run.attached.stderr
    assert run.trial.workers == ["rank-00000", "rank-00001"]
    assert run.trial.steps("train") == [0, 1, 2, 3]


def test_a_program_without_torch_is_left_alone(runner: Runner, tmp_path: Path) -> None:
    environment = runner.attached_environment(tmp_path / "run")
    code = "import sys; print('torch' in sys.modules, 'numpy' in sys.modules, 'trainwarden._attach' in sys.modules)"
    ended = runner.start("-c", code, environment=environment)
    assert (ended.stdout, ended.stderr, ended.exit_code) == ("False False True\n", "", 0)
    assert not (tmp_path / "run").exists()


def test_the_import_of_torch_leaves_no_trace(runner: Runner, tmp_path: Path) -> None:
    environment = runner.attached_environment(tmp_path / "run")
    code = (
        "import sys, torch; print(type(torch.__loader__).__name__, type(torch.__spec__.loader).__name__, "
        "[type(f).__module__ for f in sys.meta_path if type(f).__module__ == 'trainwarden.torch'])"
    )
    ended = runner.start("-c", code, environment=environment)
    assert (ended.stdout, ended.stderr) == ("SourceFileLoader SourceFileLoader []\n", "")


def test_a_run_that_cannot_be_opened_is_said_once(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    environment = runner.attached_environment(tmp_path / "file" / "run")
    ended = runner.start("resnet_like.py", environment=environment)
    assert ended.stdout == runner.captured("resnet_like.py").plain.stdout
    assert len(ended.stderr.splitlines()) == 1
    assert "nothing is captured" in ended.stderr


def test_a_second_training_gets_a_folder_beside(runner: Runner, tmp_path: Path) -> None:
    environment = runner.attached_environment(tmp_path / "run")
    runner.start("resnet_like.py", environment=environment)
    ended = runner.start("resnet_like.py", environment=environment)
    assert ended.exit_code == 0
    assert len(ended.stderr.splitlines()) == 1
    assert len([path for path in tmp_path.iterdir() if path.name.startswith("run-p")]) == 1
