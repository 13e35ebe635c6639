"""sagemaker.experiments: runs that are made, loaded, listed, and that jobs belong to."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trainwarden")

import sagemaker
from sagemaker.estimator import Estimator
from sagemaker.exceptions import ClientError, NotHere
from sagemaker.experiments import Run, SortByType, SortOrderType, list_runs, load_run
from sagemaker.experiments.run import LIST_RUNS, LOAD_RUN, RUN
from smexperiments.experiment import Experiment


def names(runs: Any) -> list[str]:
    return [run.run_name for run in runs]


def test_what_a_run_logs_is_there(tmp_path: Path) -> None:
    Path("in.csv").write_text("1")
    Path("plot.png").write_text("a picture")
    with Run("digits", "eval-1") as run:
        run.log_parameter("batch", 32)
        run.log_parameters({"split": "test"})
        for step, value in ((2, 0.9), (1, 0.5)):
            run.log_metric("accuracy", value, step=step)
        run.log_metric("seconds", 3, timestamp=datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc))
        run.log_artifact("data", "in.csv", "text/csv", is_output=False)
        run.log_artifact("predictions", "s3://mine/predictions")
        run.log_file("plot.png", "plot", "image/png")
        run.log_file("in.csv", is_output=False)
        assert run.trial_component.status.primary_status == "InProgress"
    component = load_run("eval-1", "digits").trial_component
    assert component.status.primary_status == "Completed" and component.run_name == "eval-1"
    assert component.parameters == {"batch": 32, "split": "test"}
    metrics = {metric.metric_name: metric for metric in component.metrics}
    assert (metrics["accuracy"].last, metrics["accuracy"].count) == (0.9, 2), "the last is that of the greatest step"
    assert metrics["seconds"].timestamp.year == 2026
    assert component.input_artifacts["data"].media_type == "text/csv"
    assert component.output_artifacts["predictions"].value == "s3://mine/predictions"
    assert component.output_artifacts["plot"].value.endswith("/digits-eval-1/plot.png")
    assert set(component.input_artifacts) == {"data", "in.csv"}
    assert list((tmp_path / "buckets").rglob("plot.png"))
    assert list(component.list_trials()) == ["Default-Run-Group-digits"]
    with pytest.raises(NotHere, match="leave it out"):
        run.log_file("plot.png", extra_args={"ACL": "x"})
    with pytest.raises(NotHere, match="log_file"):
        run.log_roc_curve([1], [0.5])
    with pytest.raises(AttributeError):
        run.log_colour()


def test_a_run_that_is_there_goes_on_and_one_that_fails_says_so() -> None:
    with Run("digits", "a") as run:
        run.log_parameter("first", 1)
    with pytest.raises(KeyError), Run("digits", "a") as run:
        run.log_parameter("second", 2)
        raise KeyError("lost")
    component = load_run("a", "digits").trial_component
    assert component.parameters == {"first": 1, "second": 2}
    assert component.status.primary_status == "Failed" and "lost" in str(component.status.message)


def test_each_keyword_of_a_run(tmp_path: Path) -> None:
    Path("a.txt").write_text("a")
    client = sagemaker.Session().sagemaker_client
    client.experiments = tmp_path / "elsewhere"
    session = sagemaker.Session(sagemaker_client=client)
    with Run(
        experiment_name="words",
        run_name="one",
        experiment_display_name="Words",
        run_display_name="The first",
        tags=[{"Key": "team", "Value": "a"}],
        sagemaker_session=session,
        artifact_bucket="mine",
        artifact_prefix="kept",
    ) as run:
        run.log_file("a.txt")
    assert Experiment.load("words", client).display_name == "Words"
    component = run.trial_component
    assert component.display_name == "The first" and component.tags == [{"Key": "team", "Value": "a"}]
    assert component.output_artifacts["a.txt"].value == "s3://mine/kept/words-one/a.txt"
    assert (tmp_path / "elsewhere" / "components" / "words-one").is_dir()
    with load_run("one", "words", session, artifact_bucket="other", artifact_prefix="b") as loaded:
        loaded.log_file("a.txt", "again")
    assert loaded.trial_component.output_artifacts["again"].value == "s3://other/b/words-one/a.txt"
    assert names(list_runs("words", sagemaker_session=session)) == ["one"]
    assert Run("words", sagemaker_session=session).run_name.startswith("run-2")
    assert [*RUN][:5] == ["experiment_name", "run_name", "experiment_display_name", "run_display_name", "tags"]
    assert [*RUN][5:] == [*LOAD_RUN][2:] == ["sagemaker_session", "artifact_bucket", "artifact_prefix"]


def test_runs_are_listed() -> None:
    for name in ("b", "c", "a"):
        with Run("digits", name):
            pass
    middle = load_run("c", "digits").trial_component.creation_time
    assert names(list_runs("digits")) == ["a", "c", "b"]
    assert names(list_runs("digits", created_before=middle)) == ["b"]
    assert names(list_runs("digits", created_after=middle)) == ["a"]
    assert names(list_runs("digits", sort_by=SortByType.NAME, sort_order=SortOrderType.ASCENDING)) == ["a", "b", "c"]
    assert names(list_runs("digits", max_results=1)) == ["a"]
    assert len(LIST_RUNS) == 8
    with pytest.raises(NotHere, match="next_token"):
        list_runs("digits", next_token="1")
    with pytest.raises(ClientError, match="ResourceNotFound"):
        list_runs("letters")


def test_what_cannot_be_meant() -> None:
    with pytest.raises(ValueError, match="experiment_name"):
        Run(run_name="a")
    with pytest.raises(ValueError, match="neither"):
        load_run("a")
    with pytest.raises(ValueError, match="outside of a run"):
        load_run()
    with pytest.raises(ClientError, match="ResourceNotFound"):
        load_run("a", "digits")
    with pytest.raises(ValueError, match="no name"):
        Run("digits", "a b")
    with Run("digits", "a") as outer:
        assert load_run() is outer
        with pytest.raises(RuntimeError, match="cannot be opened within another"), Run("digits", "b"):
            pass
        assert load_run() is outer


JOB = """
from sagemaker.experiments import load_run
with load_run() as run:
    run.log_metric("from the job", 1.0)
    print("the run is", run.run_name)
"""


def test_a_job_belongs_to_the_run_that_is_open(script: Path) -> None:
    script.write_text(JOB)
    estimator = Estimator(entry_point="train.py", debugger_hook_config=False)
    with Run("digits", "with-a-job") as run:
        estimator.fit(job_name="in-a-run", logs=False)
    component = load_run("with-a-job", "digits").trial_component
    assert [metric.metric_name for metric in component.metrics] == ["from the job"]
    job = {each.trial_component_name: each for each in run.trial_component.list(experiment_name="digits")}
    assert job["in-a-run-aws-training-job"].run_name == "with-a-job"
    assert job["in-a-run-aws-training-job"].status.primary_status == "Completed"
    assert names(list_runs("digits")) == ["with-a-job"]
    estimator.fit(job_name="in-none", logs=False, experiment_config={"ExperimentName": "digits"})
    component = run.trial_component.load("in-none-aws-training-job")
    assert [metric.metric_name for metric in component.metrics] == ["from the job"], "its own, without a run"
