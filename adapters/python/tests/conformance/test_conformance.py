"""The conformance test of adapters (docs/design/adapters.md): each must pass all of it."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import pytest
from untouched import EVERYTHING, Ended, Runner, clean_environment

import trainwarden


@dataclass(frozen=True)
class Framework:
    """One that has an adapter."""

    name: str
    loss: str  # the tensor that holds the loss which the program prints
    exit_code_of_stop: int  # 0 where the framework itself can end a training, else that of StopTraining
    can_veto: bool = True  # rules inside the training can keep a step from happening
    imported: str = ""  # the module, where it has another name

    @property
    def module(self) -> str:
        return self.imported or self.name

    @property
    def program(self) -> str:
        return f"{self.name}_training.py"


FRAMEWORKS = [
    Framework("torch", "mse_loss_output_0", 143),
    Framework("xgboost", "train-rmse", 0, can_veto=False),
    Framework("lightgbm", "train-rmse", 0, can_veto=False),
    Framework("mxnet", "l2loss0_output_0", 143),
    Framework("keras", "loss", 0),  # 3 or 2, as it is installed
    Framework("tf_keras", "loss", 143),
    Framework("tensorflow", "loss", 143),
    Framework("tensorflow_session", "loss", 143, imported="tensorflow"),
    Framework("tensorflow_monitored", "loss", 0, imported="tensorflow"),
    Framework("tensorflow_estimator", "loss/value", 0),
    Framework("jax", "loss", 143),
    Framework("sklearn", "loss", 143),
]


@pytest.fixture(params=FRAMEWORKS, ids=lambda framework: framework.name)
def framework(request: pytest.FixtureRequest) -> Framework:
    found = importlib.util.find_spec(request.param.module)
    if found is None or found.origin is None:  # a folder of tests that is called so
        pytest.skip(f"{request.param.name} is not installed")
    return request.param  # type: ignore[no-any-return]


def losses_of(ended: Ended) -> list[float]:
    return [float(line.split()[1]) for line in ended.stdout.splitlines() if line.startswith("loss ")]


def attached(runner: Runner, run: Path, *command: str) -> Ended:
    return runner.start(*command, environment=runner.attached_environment(run, EVERYTHING))


def test_nothing_that_the_program_does_changes(runner: Runner, framework: Framework) -> None:
    ran = runner.captured(framework.program)
    assert (ran.attached.stdout, ran.attached.stderr, ran.attached.exit_code) == (
        ran.plain.stdout,
        ran.plain.stderr,
        ran.plain.exit_code,
    )
    assert ran.plain.exit_code == 0 and len(losses_of(ran.plain)) == 8


def test_each_step_and_its_loss_are_there(runner: Runner, framework: Framework) -> None:
    ran = runner.captured(framework.program)
    trial = ran.trial
    assert trial.steps("train") == list(range(8)) and trial.steps("eval") == []
    assert trial.state.value == "completed" and trial.losses == []
    called = trial.framework.lower().replace("scikit-learn", "sklearn")
    assert framework.name.removeprefix("tf_").partition("_")[0] in called
    found = [trial.scalar(framework.loss, step, "train") for step in trial.steps("train")]
    assert found == pytest.approx(losses_of(ran.plain), rel=1e-7)
    assert framework.loss in trial.tensor_names(collection="losses")


def test_without_a_word_losses_are_kept(runner: Runner, framework: Framework, tmp_path: Path) -> None:
    ended = runner.start(framework.program, environment=runner.attached_environment(tmp_path / "run"))
    assert ended.exit_code == 0, ended.stderr
    trial = trainwarden.open(tmp_path / "run")
    kept = trial.steps("train")
    assert kept[:2] == [0, 1]  # of steps so short the budget may leave out others, on a machine that is busy
    printed = losses_of(ended)
    found = [trial.scalar(framework.loss, step, "train") for step in kept]
    assert found == pytest.approx([printed[step] for step in kept], rel=1e-7)


def test_a_request_ends_the_training(runner: Runner, framework: Framework, tmp_path: Path) -> None:
    ended = attached(runner, tmp_path / "run", framework.program, "--steps", "3000", "--at", "3", "--what", "stop")
    assert ended.exit_code == framework.exit_code_of_stop, ended.stderr
    assert len(losses_of(ended)) < 3000
    assert trainwarden.open(tmp_path / "run").state.value == "stopped"


def guarded(runner: Runner, run: Path, *command: str) -> Ended:
    """With rules inside the training, which may veto."""
    rules = {"TRAINWARDEN_GUARD_RULES": "ExplodingTensor", "TRAINWARDEN_ON_FIRE": "skip_step"}
    return runner.start(*command, environment={**runner.attached_environment(run), **rules})


def test_a_vetoed_step_leaves_no_trace(runner: Runner, framework: Framework, tmp_path: Path) -> None:
    if not framework.can_veto:
        ended = guarded(runner, tmp_path / "run", framework.program)
        assert (ended.exit_code, ended.stderr.count("rules cannot veto")) == (0, 1), ended.stderr  # said at its start
        return
    ended = guarded(runner, tmp_path / "run", framework.program, "--at", "3", "--what", "poison")
    left_out = runner.start(framework.program, "--at", "3", "--what", "leave-out", environment=clean_environment())
    assert ended.exit_code == left_out.exit_code == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == left_out.stdout.splitlines()[-1], "the weights"
    assert ended.stderr.count("The optimizer's step is left out") == 1, ended.stderr
    assert "1 steps of optimizers were vetoed" in ended.stderr
    assert trainwarden.open(tmp_path / "run").steps("train") == list(range(8))


def test_an_error_of_the_program_is_the_programs(runner: Runner, framework: Framework, tmp_path: Path) -> None:
    ended = attached(runner, tmp_path / "run", framework.program, "--at", "4", "--what", "raise")
    assert ended.exit_code == 1 and "an error of the program's own" in ended.stderr
    assert trainwarden.open(tmp_path / "run").steps("train") == list(range(5))


def test_a_killed_program_leaves_what_it_had_trained(runner: Runner, framework: Framework, tmp_path: Path) -> None:
    ended = attached(runner, tmp_path / "run", framework.program, "--at", "5", "--what", "kill")
    assert ended.exit_code == -9
    trial = trainwarden.open(tmp_path / "run")
    assert trial.steps("train") in (list(range(5)), list(range(6)))
    assert trial.state.value == "died"
    assert trial.scalar(framework.loss, 4) == pytest.approx(losses_of(ended)[4], rel=1e-7)


def test_a_forked_child_leaves_the_run_alone(runner: Runner, framework: Framework, tmp_path: Path) -> None:
    ended = attached(runner, tmp_path / "run", framework.program, "--at", "2", "--what", "fork")
    assert ended.exit_code == 0, ended.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["run"]
    trial = trainwarden.open(tmp_path / "run")
    assert trial.steps("train") == list(range(8)) and trial.workers == ["rank-00000"]


def test_an_import_alone_makes_no_run(runner: Runner, framework: Framework, tmp_path: Path) -> None:
    ended = attached(runner, tmp_path / "run", "-c", f"import {framework.module}")
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert not (tmp_path / "run").exists()


def test_who_looks_for_the_framework_first_is_captured(runner: Runner, framework: Framework, tmp_path: Path) -> None:
    program = (
        "import importlib.util, runpy, sys\n"
        f"assert importlib.util.find_spec({framework.module!r}) is not None\n"
        f"sys.argv = [{framework.program!r}]\n"
        f"runpy.run_path({framework.program!r}, run_name='__main__')\n"
    )
    ended = attached(runner, tmp_path / "run", "-c", program)
    assert ended.exit_code == 0, ended.stderr
    assert trainwarden.open(tmp_path / "run").steps("train") == list(range(8))


def test_a_run_that_cannot_be_written_is_no_affair_of_the_training(
    runner: Runner, framework: Framework, tmp_path: Path
) -> None:
    (tmp_path / "run").write_text("a file")
    ended = attached(runner, tmp_path / "run", framework.program)
    assert (ended.exit_code, ended.stdout) == (0, runner.captured(framework.program).plain.stdout)
    assert "nothing is captured" in ended.stderr
