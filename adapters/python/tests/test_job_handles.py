"""Jobs from Python: what is submitted is what the program runs, and mistakes are exceptions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import trainwarden
from trainwarden import errors, jobs

TRAIN = """
import os, sys, time
print("lr", sys.argv[sys.argv.index("--lr") + 1], flush=True)
open(os.path.join(os.environ["SM_MODEL_DIR"], "model.txt"), "w").write("weights")
if "--wait" in sys.argv:
    time.sleep(600)
sys.exit(os.path.exists("fail"))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("JOBS", "RUNS", "EXPERIMENTS", "CATALOGUE"):
        monkeypatch.setenv(f"TRAINWARDEN_{name}", str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def spec(**more: Any) -> dict[str, Any]:
    return {"program": [sys.executable, "train.py"], "cpus": 1, "hyperparameters": {"lr": 0.1}, **more}


def test_a_mapping_becomes_a_job_that_completes(folder: Path) -> None:
    job = jobs.submit(spec(), name="first")
    assert job.name == "first"
    assert job.wait() == job.status == "Completed"
    assert list(job.logs())[0] == "lr 0.1"
    assert job.run == folder / "runs" / "first"
    assert set(job.files()) == {"output/model.tar.gz"}
    assert job.files()["output/model.tar.gz"].is_file()
    assert [each["name"] for each in jobs.list_jobs()] == ["first"]
    assert jobs.get("first").describe()["job"] == "first"


def test_its_output_is_followed_to_the_end(folder: Path) -> None:
    job = jobs.submit(spec(), name="first")
    assert "lr 0.1" in list(job.logs(follow=True))
    assert job.status == "Completed"


def test_each_rule_has_a_status_and_a_log(folder: Path) -> None:
    job = jobs.submit(spec(rules=["LossSpike"]), name="judged")
    job.wait()
    rule = job.rules()["LossSpike"]
    assert rule["status"] == "NotApplicable" and rule["step"] is None
    assert list(job.logs(rule="LossSpike")) == Path(rule["log"]).read_text().splitlines() != []
    assert list(job.logs(rule="Nothing")) == []


def test_it_is_stopped_and_goes_on(folder: Path) -> None:
    job = jobs.submit(spec(hyperparameters={"lr": 0.1, "wait": True}), name="long")
    next(job.logs(follow=True))
    with pytest.raises(errors.FailedPrecondition):
        job.resume()
    assert job.stop(wait=True) == "Stopped"
    assert job.resume() == "InProgress"
    assert job.stop(wait=True) == "Stopped"


def test_a_failure_is_a_status_and_can_be_resumed(folder: Path) -> None:
    (folder / "fail").write_text("")
    job = jobs.submit(spec(), name="fails")
    assert job.wait() == "Failed"
    (folder / "fail").unlink()
    job.resume()
    assert job.wait() == "Completed"
    assert job.describe()["attempt"] == 2


def test_a_file_is_as_good(folder: Path) -> None:
    program = f'["{sys.executable}", "train.py"]'
    (folder / "job.toml").write_text(f"program = {program}\ncpus = 1\n[hyperparameters]\nlr = 3\n")
    job = jobs.submit(folder / "job.toml", name="first")
    assert job.wait() == "Completed"
    assert list(job.logs())[0] == "lr 3"


def test_every_mistake_is_told_at_once(folder: Path) -> None:
    wrong = spec(cpuss=1, max_run="soon")
    with pytest.raises(errors.InvalidArgument) as caught:
        jobs.submit(wrong)
    assert 'unknown key "cpuss"' in str(caught.value)
    assert "max_run" in str(caught.value)
    assert not (folder / "jobs").exists()
    assert len(jobs.lint(wrong)) == 2
    assert jobs.lint(spec()) == []
    with pytest.raises(errors.InvalidArgument, match="texts, numbers"):
        jobs.submit({"program": object()})
    with pytest.raises(trainwarden.Error, match="nowhere.toml"):
        jobs.lint("nowhere.toml")


def test_a_job_that_is_not_there_names_the_nearest(folder: Path) -> None:
    jobs.submit(spec(), name="first").wait()
    with pytest.raises(errors.FailedPrecondition, match="first"):
        jobs.get("frist")
