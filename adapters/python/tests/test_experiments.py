"""Trackers: what they say is what the program reads."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trainwarden import errors
from trainwarden.experiments import Tracker, create_experiment


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("TRAINWARDEN_EXPERIMENTS", str(tmp_path / "experiments"))
    monkeypatch.setenv("TRAINWARDEN_CATALOGUE", str(tmp_path / "catalogue"))
    create_experiment("digits", description="Which?")
    yield tmp_path


def program() -> str:
    """The one of this wheel; or, without a wheel, the one that TRAINWARDEN_PROGRAM names."""
    return os.environ.get("TRAINWARDEN_PROGRAM") or str(Path(sys.executable).parent / "trainwarden")


def shown(name: str) -> Any:
    """The component as the program shows it."""
    command = [program(), "experiment", "show", name, "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_the_program_reads_what_a_tracker_says(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "x.csv").write_text("1,2")
    (folder / "data" / "link").symlink_to("/etc/passwd")
    with Tracker("eval-1", experiment="digits", trial="cnn", display_name="first") as tracker:
        tracker.log_parameters({"lr": 0.1, "n": 3, "flag": True, "opt": "adam", "bad": math.nan})
        for value in (2, 4, 4, 4, 5, 5, 7, 9, math.nan):
            tracker.log_metric("loss", value)
        tracker.log_input("train", folder / "data", "text/csv")
        tracker.log_output("model", "s3://bucket/model")
        tracker.set_tag("team", "vision")
    component = shown("eval-1")
    assert component["status"] == "Completed"
    assert component["display_name"] == "first"
    assert component["experiments"] == ["digits"] and component["trials"] == ["cnn"]
    assert component["parameters"] == {"bad": "NaN", "flag": "True", "lr": 0.1, "n": 3.0, "opt": "adam"}
    loss = component["metrics"]["loss"]
    assert (loss["min"], loss["max"], loss["avg"], loss["count"], loss["last"]) == (2, 9, 5, 9, "NaN")
    assert loss["stddev"] == pytest.approx(2)
    assert component["tags"] == {"team": "vision"}
    assert component["outputs"]["model"]["type"] == "Model"
    # The program hashes the same folder to the same thing.
    subprocess.run([program(), "experiment", "log", "other", "--input", f"train={folder / 'data'}"], check=True)
    assert shown("other")["inputs"]["train"]["hash"] == component["inputs"]["train"]["hash"]


def test_two_trackers_of_one_component_count_together(folder: Path) -> None:
    with Tracker("c", experiment="digits") as one, Tracker("c") as two:
        one.log_metric("loss", 1)
        two.log_metric("loss", 3)
    assert shown("c")["metrics"]["loss"]["avg"] == 2
    assert shown("c")["metrics"]["loss"]["count"] == 2


def test_what_was_logged_survives_a_kill(folder: Path) -> None:
    source = (
        "import os, signal, time\nfrom trainwarden.experiments import Tracker\n"
        "t = Tracker('killed')\nt.log_metric('loss', 0.5)\n"
        "while not os.path.exists(t._file): time.sleep(0.01)\n"  # another thread writes it
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", source], check=False, timeout=60).returncode == -9
    component = shown("killed")
    assert component["metrics"]["loss"]["last"] == 0.5
    assert component["status"] == "InProgress"


def test_a_program_that_fails_says_so(folder: Path) -> None:
    with pytest.raises(ZeroDivisionError), Tracker("c"):
        1 / 0  # noqa: B018
    assert shown("c")["status"] == "Failed"
    assert shown("c")["message"] == "ZeroDivisionError: division by zero"


def test_a_jobs_own_component(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(errors.FailedPrecondition, match="name a component"):
        Tracker.load()
    monkeypatch.setenv("TRAINWARDEN_COMPONENT", "bert-7-aws-training-job")
    with Tracker.load() as tracker:
        tracker.log_parameter("extra", 1)
    assert shown("bert-7-aws-training-job")["status"] == "InProgress", "how the job stands is the job's to say"


def test_mistakes_are_named(folder: Path) -> None:
    for name in ("../x", "", "a_b", "x" * 121, "-a"):
        with pytest.raises(errors.InvalidArgument):
            Tracker(name)
    with pytest.raises(errors.PathNotFound, match="create_experiment"):
        Tracker("c", experiment="nothing")
    with pytest.raises(errors.PathNotFound, match="name its experiment"):
        Tracker("c", trial="nothing")
    with pytest.raises(errors.AlreadyExists):
        create_experiment("digits")
    create_experiment("words")
    Tracker("c", experiment="digits", trial="t").close()
    with pytest.raises(errors.FailedPrecondition, match="belongs to the experiment"):
        Tracker("d", experiment="words", trial="t")
    with Tracker("e") as tracker:
        with pytest.raises(errors.InvalidArgument, match="301 parameters"):
            tracker.log_parameters({f"p{i}": i for i in range(301)})
        with pytest.raises(errors.InvalidArgument, match="2500 are the most"):
            tracker.log_parameter("p", "x" * 2501)
        with pytest.raises(errors.InvalidArgument, match="is empty"):
            tracker.log_metric("", 1)
        with pytest.raises(ValueError):
            tracker.close("Done")
    with pytest.raises(errors.FailedPrecondition, match="closed"):
        tracker.log_metric("loss", 1)
    assert shown("e")["parameters"] == {}
