"""Wrong usage: the right type, and a message that helps."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trainwarden as tw
from trainwarden import errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"save": -1}, "save.save_interval: expected an integer of at least 1, found the number -1"),
        ({"save": tw.SaveSchedule(start_step=-2)}, "save.start_step: expected an integer of at least 0"),
        ({"keep": "statistic"}, 'keep: unknown key "statistic"; did you mean "statistics"?'),
        ({"keep": tw.KeepForm(values=False)}, "keeps nothing; at least one of"),
        ({"when_full": "wait"}, "when_full"),
        ({"durability": "always"}, "durability"),
        ({"staging_bytes": "many"}, "staging_bytes"),
        ({"rank": 2, "world_size": 2}, "rank"),
        ({"budget": 2.0}, "budget"),
        ({"include": ["("]}, "pattern"),
        ({"collections": [tw.Collection("mine")]}, "mine"),
        ({"include_collections": ["weigths"]}, "weights"),
    ],
)
def test_bad_options(run_dir: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        tw.Hook(run_dir, **options)
    assert message in str(caught.value)
    assert isinstance(caught.value, tw.Error)
    assert not run_dir.exists()


def test_an_unknown_option() -> None:
    with pytest.raises(TypeError, match="save_intervall"):
        tw.Hook("run", save_intervall=1)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match='unknown key "rnk"; did you mean "rank"'):
        tw.Hook.from_environment("run", rnk=1)


def test_no_run_dir() -> None:
    with pytest.raises(ValueError, match="run_dir is not set"):
        tw.Hook("")


def test_a_finished_run_is_not_written_again(run_dir: Path) -> None:
    with tw.Hook(run_dir) as hook:
        hook.step()
    with pytest.raises(FileExistsError) as caught:
        tw.Hook(run_dir)
    assert isinstance(caught.value, errors.AlreadyExists) and str(run_dir) in str(caught.value)


def test_two_hooks_of_one_rank(run_dir: Path) -> None:
    with tw.Hook(run_dir), pytest.raises(FileExistsError):
        tw.Hook(run_dir)


def test_a_folder_that_cannot_be_written() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        child = os.fork()
        if child == 0:
            if os.geteuid() == 0:
                os.setuid(65534)  # root may write everywhere
            try:
                tw.Hook(os.path.join(folder, "run"))
            except PermissionError:
                os._exit(42)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises((OSError, LookupError)) as caught:
        tw.Hook(tmp_path / "file" / "run")
    assert "file" in str(caught.value)


def test_there_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        tw.open(tmp_path / "none")
    assert isinstance(caught.value, LookupError) and "no run at" in str(caught.value)
    with pytest.raises(FileNotFoundError):
        tw.Hook.from_config(tmp_path / "none.json")


def test_a_damaged_run(run_dir: Path) -> None:
    run_dir.mkdir()
    (run_dir / "run.json").write_text("{")
    with pytest.raises(tw.DataLoss, match="run.json"):
        tw.open(run_dir)


def test_arguments_of_a_wrong_type(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        for wrong in (object(), {"a": 1}, None, [object()], np.array(["2020"], "M8[D]"), np.ones(2, np.longdouble)):
            with pytest.raises(TypeError, match="expected a tensor"):
                hook.save_tensor("x", wrong)
        with pytest.raises(TypeError):
            hook.save_scalar("loss", "high")  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            hook.save_tensor(1.5, np.zeros(1))  # type: ignore[call-overload]
        with pytest.raises(ValueError, match="expected the mode train, eval, predict or global"):
            hook.set_mode("training")
        with pytest.raises(ValueError, match="timeout"):
            hook.flush(-1)
        hook.step()
    assert tw.open(run_dir).tensor_names() == []


def test_what_is_not_in_the_run(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        hook.save_tensor("weight", np.zeros(3))
        hook.step()
    trial = tw.open(run_dir)
    with pytest.raises(errors.NotFound, match='did you mean "weight"'):
        trial.value("weigth", 0)
    with pytest.raises(errors.OutOfRange, match="nearest steps"):
        trial.value("weight", 7)
    with pytest.raises(LookupError):
        trial.value("weight", 0, worker="rank-00009")
    with pytest.raises(ValueError):
        trial.tensor_names("(")
    with pytest.raises(LookupError):
        trial.collection("none")
    with pytest.raises(ValueError):
        trial.reduction("weight", 0, "median")
    with pytest.raises(ValueError, match="is no number"):
        trial.scalar("weight", 0)
    with pytest.raises(errors.OutOfRange, match="will never come"):
        trial.wait_for_steps([5], timeout_s=1)


def test_waiting_ends(run_dir: Path) -> None:
    with tw.Hook(run_dir) as hook:
        hook.step()
        hook.flush()
        with pytest.raises(TimeoutError):
            tw.open(run_dir).wait_for_steps([5], timeout_s=0.01)


def test_damage_in_a_value_is_data_loss(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        hook.save_tensor("x", np.full(64, 7, np.uint8))
        hook.step()
    (segment,) = (run_dir / "journal" / "rank-00000").glob("*.tw")
    content = segment.read_bytes()
    segment.write_bytes(content.replace(b"\7" * 64, b"\7" * 63 + b"\6"))
    with pytest.raises(tw.DataLoss, match="CRC"):
        tw.open(run_dir).value("x", 0)
    assert tw.open(run_dir, verify=False).value("x", 0)[-1] == 6
