"""Jobs that are really submitted, by tiny programs: what users see of them."""

from __future__ import annotations

import datetime
import json
import os
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sagemaker
from sagemaker import _program
from sagemaker.analytics import TrainingJobAnalytics
from sagemaker.estimator import Estimator
from sagemaker.exceptions import ClientError, NotHere, UnexpectedStatusException
from sagemaker.inputs import TrainingInput
from sagemaker.processing import ScriptProcessor
from sagemaker.pytorch import PyTorch


@pytest.fixture(autouse=True)
def _nothing_is_left_running(tmp_path: Path) -> Iterator[None]:
    yield
    jobs = tmp_path / "jobs"
    for row in _program.ask("job", "ls", "--jobs", str(jobs))["jobs"] if jobs.exists() else []:
        if "unreadable" not in row and row["status"] in ("InProgress", "Stopping"):
            _program.ask("job", "stop", row["name"], "--wait", "--jobs", str(jobs))


def submit(script: Path, **given: Any) -> Any:
    """Not waited for."""
    fit = {name: given.pop(name) for name in ("inputs", "job_name") if name in given}
    estimator = PyTorch(entry_point=str(script), role="me", debugger_hook_config=False, **given)
    estimator.fit(wait=False, **fit)
    return estimator


def test_a_job_runs_and_is_described(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (script.parent / "data").mkdir()
    estimator = PyTorch(
        entry_point="train.py",
        role=sagemaker.get_execution_role(),
        base_job_name="tiny",
        instance_type="ml.m4.xlarge",
        max_run=3600,
        hyperparameters={"words": "right here", "code": 0},
        debugger_hook_config=False,
    )
    estimator.fit({"train": TrainingInput("data")})
    printed = capsys.readouterr().out
    assert "Starting - " in printed and "the words are right here\n" in printed and "Completed - " in printed
    assert printed.rstrip().splitlines()[-1].startswith("Billable seconds: ")

    job = estimator.latest_training_job
    assert job is not None and job.name.startswith("tiny-2")
    description = job.describe()
    assert description["TrainingJobStatus"] == description["SecondaryStatus"] == "Completed"
    assert description["HyperParameters"]["words"] == '"right here"'
    assert description["ResourceConfig"] == {"InstanceCount": 1, "InstanceType": "ml.m4.xlarge"}
    assert description["StoppingCondition"] == {"MaxRuntimeInSeconds": 3600}
    assert description["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"] == str(script.parent / "data")
    times = [description[name] for name in ("CreationTime", "TrainingStartTime", "TrainingEndTime")]
    assert times == sorted(times) and times[0].tzinfo is datetime.timezone.utc
    transitions = description["SecondaryStatusTransitions"]
    assert [each["Status"] for each in transitions][-1] == "Completed"
    assert all("EndTime" in each for each in transitions[:-1]) and "EndTime" not in transitions[-1]
    assert "DebugHookConfig" not in description and estimator.latest_job_debugger_artifacts_path() is None


def test_the_model_is_where_the_output_path_says(script: Path, tmp_path: Path) -> None:
    bucket = sagemaker.Session().default_bucket()
    estimator = submit(script, hyperparameters={"words": "a model"})
    assert estimator.model_data is None or estimator.latest_training_job.describe()["TrainingJobStatus"] == "Completed"
    estimator.latest_training_job.wait(logs=False)
    name = estimator.latest_training_job.name
    assert estimator.model_data == f"s3://{bucket}/{name}/output/model.tar.gz"
    with tarfile.open(tmp_path / "buckets" / bucket / name / "output" / "model.tar.gz") as archive:
        model = archive.extractfile("./model.txt")
        assert model is not None and model.read() == b"a model"


def test_who_does_not_wait_finds_the_job_later(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()
    estimator = submit(script, hyperparameters={"seconds": 2}, job_name="later-1")
    assert time.monotonic() - began < 2
    assert estimator.latest_training_job.describe()["TrainingJobStatus"] == "InProgress"
    attached = PyTorch.attach("later-1")
    assert attached.latest_training_job is not None
    attached.latest_training_job.wait(logs="Training")
    assert "the words are nothing" in capsys.readouterr().out
    with pytest.raises(ClientError, match='there is no job "later-2"'):
        PyTorch.attach("later-2")


def test_a_job_that_fails_says_why(script: Path) -> None:
    estimator = PyTorch(entry_point="train.py", hyperparameters={"code": 7}, debugger_hook_config=False)
    with pytest.raises(UnexpectedStatusException, match="Failed. Reason: AlgorithmError.*7") as failed:
        estimator.fit(logs=False)
    assert failed.value.actual_status == "Failed"
    assert estimator.latest_training_job is not None
    assert "exit code 7" in estimator.latest_training_job.describe()["FailureReason"]


def test_a_job_is_stopped(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    estimator = submit(script, hyperparameters={"seconds": 60}, job_name="stopped-1")
    client = estimator.sagemaker_session.sagemaker_client
    while client.describe_training_job(TrainingJobName="stopped-1")["SecondaryStatus"] not in {"Training", "Completed"}:
        time.sleep(0.1)
    assert client.stop_training_job(TrainingJobName="stopped-1") == {}
    estimator.latest_training_job.wait()
    assert estimator.latest_training_job.describe()["TrainingJobStatus"] == "Stopped"
    assert client.stop_training_job(TrainingJobName="stopped-1") == {}  # twice is fine
    with pytest.raises(ClientError, match="no job"):
        client.stop_training_job(TrainingJobName="nobody-1")


def test_ctrl_c_ends_the_waiting_and_not_the_job(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = submit(script, hyperparameters={"seconds": 60}, job_name="interrupted-1").latest_training_job
    client = job.sagemaker_session.sagemaker_client
    asked = []

    def describe(TrainingJobName: str) -> dict[str, Any]:
        asked.append(TrainingJobName)
        if len(asked) == 3:
            raise KeyboardInterrupt
        description: dict[str, Any] = type(client).describe_training_job(client, TrainingJobName)
        return description

    with monkeypatch.context() as interrupted:
        interrupted.setattr(client, "describe_training_job", describe)
        with pytest.raises(KeyboardInterrupt):
            job.wait()
    assert job.describe()["SecondaryStatus"] in ("Pending", "Starting", "Training")


def test_jobs_that_say_what_they_take_run_side_by_side(script: Path) -> None:
    first = submit(script, hyperparameters={"seconds": 60}, job_name="beside-1", cpus=1)
    second = submit(script, job_name="beside-2", cpus=1)
    second.latest_training_job.wait(logs=False)
    assert first.latest_training_job.describe()["TrainingJobStatus"] == "InProgress"


def test_jobs_are_listed(script: Path) -> None:
    for number in range(3):
        submit(script, job_name=f"listed-{number}").latest_training_job.wait(logs="None")
    client = sagemaker.Session().sagemaker_client
    page = client.list_training_jobs(NameContains="listed", MaxResults=2)
    assert [each["TrainingJobName"] for each in page["TrainingJobSummaries"]] == ["listed-2", "listed-1"]
    rest = client.list_training_jobs(NameContains="listed", MaxResults=2, NextToken=page["NextToken"])
    assert [each["TrainingJobStatus"] for each in rest["TrainingJobSummaries"]] == ["Completed"]
    assert "NextToken" not in rest
    middle = page["TrainingJobSummaries"][1]["CreationTime"]
    after = client.list_training_jobs(CreationTimeAfter=middle)["TrainingJobSummaries"]
    before = client.list_training_jobs(CreationTimeBefore=middle)["TrainingJobSummaries"]
    assert [each["TrainingJobName"] for each in (*after, *before)] == ["listed-2", "listed-0"]
    assert client.list_training_jobs(StatusEquals="Failed")["TrainingJobSummaries"] == []
    for wrong in ({"SortBy": "Colour"}, {"MaxResults": 0}, {"NextToken": "x"}):
        with pytest.raises(ClientError, match="ValidationException"):
            client.list_training_jobs(**wrong)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"environment": {"SM_MINE": "1"}}, "Trainwarden sets variables that begin so"),
        ({"max_run": 0.001}, "max_run"),
        ({"source_dir": "nowhere"}, "source_dir: expected a folder"),
        ({"checkpoint_s3_uri": "no:where", "instance_count": 0}, "nodes"),
        ({"dependencies": ["nowhere"]}, "dependencies: expected a folder"),
        ({"tensorboard_output_config": "boards"}, "tensorboard_output_config: expected TensorBoardOutputConfig"),
        ({"rules": ["VanishingGradient"]}, "rules: expected Rule.sagemaker"),
    ],
)
def test_mistakes_start_nothing(script: Path, tmp_path: Path, given: dict[str, Any], words: str) -> None:
    with pytest.raises((ClientError, ValueError), match=words):
        submit(script, job_name="wrong-1", **given)
    assert not (tmp_path / "jobs" / "wrong-1").exists()


def test_a_missing_script_and_a_taken_name(script: Path, tmp_path: Path) -> None:
    with pytest.raises(ClientError, match="there is no file"):
        submit(script.parent / "nothing.py", job_name="wrong-1")
    submit(script, job_name="taken-1").latest_training_job.wait(logs=False)
    with pytest.raises(ClientError, match='"taken-1" already'):
        submit(script, job_name="taken-1")
    assert sagemaker.Session().describe_training_job("taken-1")["TrainingJobStatus"] == "Completed"
    for name in ("../taken-1", "", "a b", "-x-/"):
        with pytest.raises(ClientError, match="TrainingJobName"):
            sagemaker.Session().sagemaker_client.create_training_job(TrainingJobName=name)
    assert sorted(path.name for path in (tmp_path / "jobs").iterdir() if path.name[0] != ".") == ["taken-1"]


def test_a_request_of_the_api_is_a_job(script: Path) -> None:
    client = sagemaker.Session().sagemaker_client
    request: dict[str, Any] = {
        "TrainingJobName": "wire-1",
        "HyperParameters": {"sagemaker_program": "train.py", "words": "as text"},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
    }
    assert client.create_training_job(**request)["TrainingJobArn"].endswith(":training-job/wire-1")
    assert sagemaker.Session().wait_for_job("wire-1")["HyperParameters"] == request["HyperParameters"]
    with pytest.raises(ClientError, match="expected the field DataSource"):
        client.create_training_job(
            **{**request, "TrainingJobName": "wire-2", "InputDataConfig": [{"ChannelName": "a"}]}
        )
    with pytest.raises(ClientError, match="expected entry_point"):
        client.create_training_job(TrainingJobName="wire-2")


def test_a_job_of_the_command_line_is_described_too(script: Path) -> None:
    spec = script.parent / "job.json"
    spec.write_text(json.dumps({"name": "plain-1", "entry_point": "train.py", "hook": False}))
    _program.ask("submit", str(spec))
    description = sagemaker.Session().wait_for_job("plain-1")
    assert description["TrainingJobStatus"] == "Completed" and "HyperParameters" not in description


def test_planted_links_are_not_followed(script: Path, tmp_path: Path) -> None:
    submit(script, job_name="planted-1").latest_training_job.wait(logs=False)
    request = next((tmp_path / "jobs" / "planted-1").glob("sagemaker-*/request.json"))
    secret = tmp_path / "secret.json"
    secret.write_text('{"RoleArn": "a secret"}')
    request.unlink()
    request.symlink_to(secret)
    assert "RoleArn" not in sagemaker.Session().describe_training_job("planted-1")
    request.unlink()
    os.mkfifo(request)
    assert "RoleArn" not in sagemaker.Session().describe_training_job("planted-1")
    request.unlink()
    request.write_text("[" * 100_000)
    assert "RoleArn" not in sagemaker.Session().describe_training_job("planted-1")


def test_metrics_of_what_it_prints(script: Path, tmp_path: Path) -> None:
    script.write_text(
        "import time\nfor i in range(4):\n    print(f'loss: {4 - i}.5', flush=True)\n    time.sleep(0.1)\n"
    )
    estimator = Estimator(
        entry_point="train.py", metric_definitions=[{"Name": "train:loss", "Regex": r"(?<!\w)loss: (\S+)"}]
    )
    estimator.fit(logs=False)
    frame = estimator.training_job_analytics.dataframe()
    assert list(frame.columns) == ["timestamp", "metric_name", "value"]
    assert frame["value"].between(1.5, 4.5).all() and set(frame["metric_name"]) == {"train:loss"}
    assert frame["timestamp"].iloc[0] == 0.0

    name, session = estimator.latest_training_job.name, estimator.sagemaker_session  # type: ignore[union-attr]
    each = TrainingJobAnalytics(name, sagemaker_session=session, period=0)
    assert each.dataframe()["value"].tolist() == [4.5, 3.5, 2.5, 1.5]
    each.export_csv(str(tmp_path / "metrics.csv"))
    assert (tmp_path / "metrics.csv").read_text().splitlines()[0] == "timestamp,metric_name,value"
    long_ago = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)
    assert TrainingJobAnalytics(name, end_time=long_ago).dataframe().empty
    assert TrainingJobAnalytics(name, start_time=long_ago, period=0).dataframe().shape == (4, 3)
    assert TrainingJobAnalytics(name, metric_names=["other"]).dataframe().empty


def test_what_the_cloud_alone_has(script: Path) -> None:
    estimator = PyTorch(entry_point="train.py")
    with pytest.raises(NotHere, match="network of this machine"):
        ScriptProcessor(command=["python3"], network_config="a")
    for call in (lambda: estimator.deploy(), lambda: sagemaker.Model, lambda: sagemaker.Session().create_model):
        with pytest.raises(NotHere):
            call()
    with pytest.raises(NotHere, match="describe_training_job"):
        sagemaker.Session().sagemaker_client.describe_endpoint(EndpointName="a")
    with pytest.raises(ValueError, match="call fit"):
        estimator.latest_job_debugger_artifacts_path()


def test_without_buckets_the_error_says_what_to_set(
    script: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.delenv("TRAINWARDEN_BUCKETS")
    with pytest.raises(ValueError, match="TRAINWARDEN_BUCKETS"):
        sagemaker.Session().default_bucket()
    with pytest.raises(ClientError, match="AWS_ACCESS_KEY_ID"):  # a bucket of S3, then
        submit(script, output_path="s3://mine/results")


def test_without_the_program_the_error_says_what_to_do(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as nowhere:
        nowhere.delenv("TRAINWARDEN_PROGRAM", raising=False)
        nowhere.setenv("PATH", "/nowhere")
        nowhere.setattr("sys.executable", "/nowhere/python3")
        nowhere.setattr("sysconfig.get_path", lambda name: "/nowhere")
        with pytest.raises(FileNotFoundError, match="TRAINWARDEN_PROGRAM"):
            submit(script)
