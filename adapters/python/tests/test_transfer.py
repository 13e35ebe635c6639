"""Exports and imports: what comes out, live runs, errors."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import trainwarden as tw
from trainwarden.transfer import Steps


@pytest.fixture
def finished(run_dir: Path) -> Path:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        for step in range(6):
            hook.set_mode("train" if step < 4 else "eval")
            hook.save_tensor("weight", np.full((2, 3), step, np.float32))
            hook.save_scalar("loss", 1.0 / (step + 1))
            hook.step()
    return run_dir


def records_of(file: Path) -> list[dict[str, object]]:
    records: list[dict[str, object]] = json.loads(file.read_text())["records"]
    return records


def steps_of(file: Path) -> list[object]:
    return sorted({record["step"] for record in records_of(file)})  # type: ignore[type-var]


def test_numpy_reads_the_arrays(finished: Path, tmp_path: Path) -> None:
    report = tw.export(finished, "npz", tmp_path / "arrays")
    assert (report.steps, report.records, report.files, report.run_ended) == (6, 12, 6, True)
    assert report.notes == [] and report.bytes > 0
    arrays = np.load(tmp_path / "arrays" / "rank-00000" / "000000000003.npz", allow_pickle=False)
    assert arrays["weight"].dtype == np.float32 and (arrays["weight"] == 3).all()
    assert arrays["loss"] == 0.25


def test_a_trial_may_be_exported_too(finished: Path, tmp_path: Path) -> None:
    trial = tw.open(finished)
    assert tw.export(trial, to="csv", out=tmp_path / "loss.csv", include="loss").records == 6
    with open(tmp_path / "loss.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["value"]) for row in rows] == [trial.scalar("loss", step) for step in range(6)]
    assert rows[5]["mode"] == "eval" and rows[5]["mode_step"] == "1"


@pytest.mark.parametrize(
    "steps, expected",
    [
        ("1:3", [1, 2]),
        ("::4", [0, 4]),
        (range(1, 6, 2), [1, 3, 5]),
        (slice(4, None), [4, 5]),
        ([5, 0], [0, 5]),
        (None, [0, 1, 2, 3, 4, 5]),
    ],
)
def test_steps(finished: Path, tmp_path: Path, steps: Steps | None, expected: list[int]) -> None:
    tw.export(finished, "json", tmp_path / "out.json", steps=steps)
    assert steps_of(tmp_path / "out.json") == expected


def test_modes_and_names(finished: Path, tmp_path: Path) -> None:
    tw.export(finished, "json", tmp_path / "a.json", modes="eval", steps=[1])
    assert steps_of(tmp_path / "a.json") == [5]
    tw.export(finished, "json", tmp_path / "b.json", modes=[tw.Mode.TRAIN], include=["^w", "none"])
    assert {record["tensor"] for record in records_of(tmp_path / "b.json")} == {"weight"}
    tw.export(finished, "json", tmp_path / "c.json", collection="scalars", workers="rank-00000")
    assert {record["tensor"] for record in records_of(tmp_path / "c.json")} == {"loss"}


def test_a_live_run_is_followed(run_dir: Path, tmp_path: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        hook.save_scalar("loss", 1.0)
        hook.step()
        hook.flush()
        exporter = tw.Exporter(run_dir, "tensorboard", tmp_path / "board")
        exporter.poll()
        assert not exporter.run_ended
        (events,) = (tmp_path / "board" / "global").glob("events.out.tfevents.*")
        size = events.stat().st_size
        hook.save_scalar("loss", 0.5)
        hook.step()
        hook.flush()
        exporter.poll()
        assert events.stat().st_size > size
    exporter.poll()
    assert exporter.run_ended
    report = exporter.finish()
    assert (report.steps, report.run_ended) == (2, True)
    with pytest.raises(RuntimeError):
        exporter.finish()
    with pytest.raises(RuntimeError):
        exporter.poll()


def test_export_follows_to_the_end_of_the_run(run_dir: Path, tmp_path: Path) -> None:
    program = (
        "import sys, trainwarden as tw\n"
        "with tw.Hook(sys.argv[1]) as hook:\n"
        "    for step in range(50):\n"
        "        hook.save_scalar('loss', float(step)); hook.step(); hook.flush()\n"
        "        if step == 0: print('started', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(run_dir)], stdout=subprocess.PIPE) as training:
        assert training.stdout is not None and training.stdout.readline() == b"started\n"
        report = tw.export(run_dir, "json", tmp_path / "out.json", follow=True)
        assert training.wait() == 0
    assert report.run_ended and report.steps == 50


def test_there_and_back(finished: Path, tmp_path: Path) -> None:
    tw.export(finished, "smdebug", tmp_path / "smdebug")
    report = tw.import_run(tmp_path / "smdebug", tmp_path / "back")
    assert (report.workers, report.steps, report.source_ended) == ({"worker_0": "rank-00000"}, 6, True)
    before, after = tw.open(finished), tw.open(tmp_path / "back")
    assert after.run_id == report.run_id and after.labels["recorder"] == "smdebug"
    assert after.steps("eval") == before.steps("eval") == [0, 1]
    for step in before.steps():
        assert after.scalar("loss", step) == before.scalar("loss", step)
        assert (after.value("weight", step) == before.value("weight", step)).all()


def test_notes_tell_what_a_format_cannot_hold(run_dir: Path, tmp_path: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1, keep=["histogram", "hash"]) as hook:
        hook.save_tensor("weight", np.arange(4.0))
        hook.step()
    report = tw.export(run_dir, "csv", tmp_path / "out.csv")
    notes = {note.cause: note for note in report.notes}
    assert notes["histograms"].lost and notes["histograms"].count == 1
    assert notes["hashes"].first == "weight at step 0"


def test_errors(finished: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(ValueError, match="hdf5"):
        tw.export(finished, "hdf5", out)
    with pytest.raises(ValueError, match="does not compile"):
        tw.export(finished, "npz", out, include="(")
    with pytest.raises(ValueError):
        tw.export(finished, "npz", out, steps="1:2:3:4")
    with pytest.raises(ValueError):
        tw.export(finished, "npz", out, steps=range(5, 0, -1))
    with pytest.raises(ValueError):
        tw.export(finished, "npz", out, modes="training")
    with pytest.raises(FileNotFoundError):
        tw.export(tmp_path / "nowhere", "npz", out)
    with pytest.raises(LookupError, match="rank-00000"):
        tw.export(finished, "npz", out, workers="rank-00001")
    tw.export(finished, "npz", tmp_path / "taken")
    with pytest.raises(FileExistsError):
        tw.export(finished, "npz", tmp_path / "taken")
    with pytest.raises(ValueError):
        tw.import_run(finished, tmp_path / "new")
    with pytest.raises(FileNotFoundError):
        tw.import_run(tmp_path / "nowhere", tmp_path / "new")
