"""Clients of AWS: our own boto3, and the original's botocore against `trainwarden serve --aws-api`."""

from __future__ import annotations

import datetime
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cells import our_boto3

from sagemaker import _program
from sagemaker.estimator import Estimator
from sagemaker.exceptions import ClientError, NotHere

GROUP = "/aws/sagemaker/TrainingJobs"


@pytest.fixture
def job(script: Path) -> str:
    """One that has ended, of an experiment."""
    _program.call("experiment", "create", "digits", "--trial", "cnn")
    estimator = Estimator(entry_point=str(script), hyperparameters={"words": "a b"}, debugger_hook_config=False)
    config = {"ExperimentName": "digits", "TrialName": "cnn"}
    estimator.fit(logs=False, job_name="wire-1", experiment_config=config)
    return "wire-1"


def ask_everything(sagemaker: Any, logs: Any, error: Any, job: str) -> None:
    """What both kinds of clients answer alike."""
    description = sagemaker.describe_training_job(TrainingJobName=job)
    assert description["TrainingJobStatus"] == "Completed"
    assert description["HyperParameters"]["words"] == '"a b"'
    assert isinstance(description["TrainingEndTime"], datetime.datetime)
    transition = description["SecondaryStatusTransitions"][0]
    assert transition["StartTime"].tzinfo is not None and transition["Status"] == "Pending"

    summaries = sagemaker.list_training_jobs(NameContains="wire", MaxResults=1)["TrainingJobSummaries"]
    assert [each["TrainingJobName"] for each in summaries] == [job]
    tomorrow = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
    assert sagemaker.list_training_jobs(CreationTimeAfter=tomorrow)["TrainingJobSummaries"] == []
    assert sagemaker.stop_training_job(TrainingJobName=job).get("nothing") is None

    expression = {"Filters": [{"Name": "Parents.TrialName", "Operator": "Equals", "Value": "cnn"}]}
    found = sagemaker.search(Resource="ExperimentTrialComponent", SearchExpression=expression, SortOrder="Ascending")
    (result,) = found["Results"]
    component = result["TrialComponent"]
    assert component["TrialComponentName"] == f"{job}-aws-training-job"
    assert component["Parameters"]["words"] == {"StringValue": "a b"}
    assert component["Parameters"]["SageMaker.InstanceCount"] == {"NumberValue": 1.0}
    assert isinstance(component["CreationTime"], datetime.datetime)

    streams = logs.describe_log_streams(logGroupName=GROUP, logStreamNamePrefix=job)["logStreams"]
    assert [stream["logStreamName"] for stream in streams] == [f"{job}/algo-1"]
    where = {"logGroupName": GROUP, "logStreamName": f"{job}/algo-1"}
    page = logs.get_log_events(**where, startFromHead=True)
    messages = [event["message"] for event in page["events"]]
    assert "the words are a b" in messages and page["events"][0]["timestamp"] > 1_600_000_000_000
    assert logs.get_log_events(**where, nextToken=page["nextForwardToken"])["events"] == []
    one = logs.get_log_events(**where, startFromHead=True, limit=1)
    assert [event["message"] for event in one["events"]] == messages[:1]

    for call, code in (
        (lambda: sagemaker.describe_training_job(TrainingJobName="nobody-1"), "ResourceNotFound"),
        (lambda: sagemaker.stop_training_job(TrainingJobName="nobody-1"), "ResourceNotFound"),
        (lambda: sagemaker.list_training_jobs(NextToken="x"), "ValidationException"),
        (lambda: sagemaker.search(Resource="Endpoint"), "ValidationException"),
        (lambda: logs.get_log_events(logGroupName=GROUP, logStreamName="nobody-1/algo-1"), "ResourceNotFoundException"),
        (lambda: logs.describe_log_streams(logGroupName="/other"), "ResourceNotFoundException"),
    ):
        with pytest.raises(error) as failed:
            call()
        assert failed.value.response["Error"]["Code"] == code, failed.value


def test_our_boto3_has_clients_of_jobs_and_logs(job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    boto3 = our_boto3()
    assert boto3.Session().region_name == "local"
    ask_everything(boto3.client("sagemaker"), boto3.Session().client("logs"), ClientError, job)
    here = boto3.Session(region_name="eu-1").client(service_name="sagemaker")
    assert ":eu-1:" in here.describe_training_job(TrainingJobName=job)["TrainingJobArn"]
    there = boto3.client("sagemaker", region_name="eu-2")
    assert ":eu-2:" in there.describe_training_job(TrainingJobName=job)["TrainingJobArn"]
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-3")
    assert boto3.Session().region_name == "eu-3"
    assert boto3.Session().get_available_services() == ["sagemaker", "logs", "s3"]
    for words, call in {
        "expected one of sagemaker, logs, s3": lambda: boto3.client("ec2"),
        "clients only": lambda: boto3.resource("s3"),
        "region_name alone": lambda: boto3.Session(aws_access_key_id="a"),
        "endpoint_url": lambda: boto3.client("s3", endpoint_url="http://a"),
        "get_log_events, not": lambda: boto3.client("logs").put_log_events(),
        "upload_file, not": lambda: boto3.client("s3").delete_bucket(),
    }.items():
        with pytest.raises(NotHere, match=words):
            call()


def test_each_rank_has_a_stream_of_its_own(script: Path, acting: Server) -> None:
    script.write_text("import os\nprint('I am', os.environ['RANK'], flush=True)\n")
    Path("job.json").write_text(json.dumps({"entry_point": "train.py", "hook": False, "tasks_per_node": 2}))
    _program.call("submit", "job.json", "--name", "ranks-1", "--wait")
    for logs in (our_boto3().client("logs"), acting.client("logs")):
        streams = logs.describe_log_streams(logGroupName=GROUP, logStreamNamePrefix="ranks-1/")["logStreams"]
        names = [stream["logStreamName"] for stream in streams]
        assert names == ["ranks-1/algo-1", "ranks-1/algo-1-rank-0", "ranks-1/algo-1-rank-1"]
        events = logs.get_log_events(logGroupName=GROUP, logStreamName=names[2], startFromHead=True)["events"]
        assert [event["message"] for event in events] == ["I am 1"] and events[0]["timestamp"] > 1_600_000_000_000
        for wrong in ("ranks-1/algo-1-rank-2", "ranks-1/algo-2"):
            with pytest.raises(Exception, match="ResourceNotFoundException"):
                logs.get_log_events(logGroupName=GROUP, logStreamName=wrong)


def test_our_boto3_copies_files_of_buckets(tmp_path: Path) -> None:
    s3 = our_boto3().client("s3")
    Path("a.txt").write_text("abc")
    for key in ("x/a.txt", "x/b.txt", "y.txt"):
        s3.upload_file("a.txt", "mine", key)
    (tmp_path / "buckets" / "mine" / "x" / "link").symlink_to("/etc/passwd")
    assert [each["Key"] for each in s3.list_objects_v2(Bucket="mine")["Contents"]] == ["x/a.txt", "x/b.txt", "y.txt"]
    first = s3.list_objects_v2(Bucket="mine", Prefix="x/", MaxKeys=1)
    assert first["IsTruncated"] and first["KeyCount"] == 1 and first["Contents"][0]["Size"] == 3
    rest = s3.list_objects_v2(Bucket="mine", Prefix="x/", ContinuationToken=first["NextContinuationToken"])
    assert [each["Key"] for each in rest["Contents"]] == ["x/b.txt"] and not rest["IsTruncated"]
    s3.download_file("mine", "y.txt", "back.txt")
    assert Path("back.txt").read_text() == "abc"
    assert s3.head_object(Bucket="mine", Key="y.txt")["ContentLength"] == 3
    for call, code in (
        (lambda: s3.download_file("mine", "none", "x"), "NoSuchKey"),
        (lambda: s3.head_object(Bucket="mine", Key="x"), "NoSuchKey"),
        (lambda: s3.list_objects_v2(Bucket="none"), "NoSuchBucket"),
    ):
        with pytest.raises(ClientError) as failed:
            call()
        assert failed.value.response["Error"]["Code"] == code
    for key in ("../secret", "x/link", "/etc/passwd/.."):
        with pytest.raises(ValueError, match="expected"):
            s3.download_file("mine", key, "stolen.txt")
    assert not Path("stolen.txt").exists()


class Server:
    """`trainwarden serve --aws-api`, and clients of botocore that ask it."""

    def __init__(self, *options: str):
        self.process = subprocess.Popen(
            [_program.find_program(), "serve", "--aws-api", "--json", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=os.getcwd(),
        )
        assert self.process.stdout is not None
        self.about = json.loads(self.process.stdout.readline())
        self.key = self.about["url"].partition("#t=")[2]

    def client(self, service: str, key: str = "") -> Any:
        import botocore.config
        import botocore.session

        return botocore.session.get_session().create_client(
            service,
            region_name="local",
            endpoint_url=self.about["aws_endpoint"],
            aws_access_key_id=key or self.key,
            aws_secret_access_key="none",
            config=botocore.config.Config(retries={"total_max_attempts": 1}),
        )

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=30)


@pytest.fixture
def acting() -> Iterator[Server]:
    pytest.importorskip("botocore")
    Path(os.environ["TRAINWARDEN_RUNS"]).mkdir(exist_ok=True)
    server = Server("--allow-actions")
    yield server
    server.stop()


def test_the_original_asks_the_server(job: str, acting: Server) -> None:
    from botocore.exceptions import ClientError as OriginalError

    ask_everything(acting.client("sagemaker"), acting.client("logs"), OriginalError, job)
    sagemaker = acting.client("sagemaker")
    with pytest.raises(sagemaker.exceptions.ResourceNotFound):
        sagemaker.describe_training_job(TrainingJobName="nobody-1")
    component = sagemaker.describe_trial_component(TrialComponentName=f"{job}-aws-training-job")
    assert component["Parameters"]["words"] == {"StringValue": "a b"}
    for client, code in (
        (acting.client("sagemaker", "0" * 64), "UnrecognizedClientException"),
        (acting.client("sagemaker", acting.key[:-1]), "UnrecognizedClientException"),
    ):
        with pytest.raises(OriginalError) as failed:
            client.list_training_jobs()
        assert failed.value.response["Error"]["Code"] == code
    with pytest.raises(OriginalError, match="UnknownOperationException.*DescribeTrainingJob"):
        sagemaker.list_endpoints()


def test_the_original_stops_a_job(script: Path, acting: Server) -> None:
    estimator = Estimator(entry_point=str(script), hyperparameters={"seconds": 60}, debugger_hook_config=False)
    estimator.fit(wait=False, job_name="wire-2")
    acting.client("sagemaker").stop_training_job(TrainingJobName="wire-2")
    estimator.latest_training_job.wait(logs=False)  # type: ignore[union-attr]
    assert estimator.latest_training_job.describe()["TrainingJobStatus"] == "Stopped"  # type: ignore[union-attr]


@pytest.fixture
def submitting() -> Iterator[Server]:
    pytest.importorskip("botocore")
    Path(os.environ["TRAINWARDEN_RUNS"]).mkdir(exist_ok=True)
    server = Server("--allow-submit")
    yield server
    server.stop()


ROLE = "arn:aws:iam::000000000000:role/me"


def request_of(name: str, **more: Any) -> dict[str, Any]:
    """What the original's checks of a request want at least."""
    return {
        "TrainingJobName": name,
        "RoleArn": ROLE,
        "AlgorithmSpecification": {"TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "s3://mine/results"},
        "ResourceConfig": {"InstanceType": "ml.m4.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
        **more,
    }


def wait_for(sagemaker: Any, name: str) -> dict[str, Any]:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        description: dict[str, Any] = sagemaker.describe_training_job(TrainingJobName=name)
        if description["TrainingJobStatus"] != "InProgress":
            return description
        time.sleep(0.2)
    raise AssertionError(f"{name} has not ended: {description}")


def test_the_original_creates_a_job(script: Path, tmp_path: Path, submitting: Server) -> None:
    from botocore.exceptions import ClientError as OriginalError

    (tmp_path / "data").mkdir()
    sagemaker = submitting.client("sagemaker")
    script.write_text("import os\nprint('loss:', 1.5, os.environ['COLOUR'], os.listdir(os.environ['SM_CHANNEL_TRAIN']))\n")
    (tmp_path / "data" / "a.csv").touch()
    source = {"S3DataType": "S3Prefix", "S3Uri": str(tmp_path / "data"), "S3DataDistributionType": "FullyReplicated"}
    more = {
        "HyperParameters": {"sagemaker_program": json.dumps(str(script)), "lr": "0.1"},
        "AlgorithmSpecification": {
            "TrainingInputMode": "File",
            "MetricDefinitions": [{"Name": "loss", "Regex": "loss: (\\S+)"}],
        },
        "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": source}}],
        "Environment": {"COLOUR": "red"},
        "Tags": [{"Key": "team", "Value": "a"}],
        "RetryStrategy": {"MaximumRetryAttempts": 1},
        "DebugHookConfig": {"S3OutputPath": str(tmp_path / "tensors")},
        "DebugRuleConfigurations": [
            {
                "RuleConfigurationName": "Stuck",
                "RuleEvaluatorImage": "any",
                "RuleParameters": {
                    "rule_to_invoke": "LossNotDecreasing",
                    "action_json": json.dumps([{"name": "stoptraining", "training_job_prefix": "wire-3"}]),
                },
            }
        ],
    }
    arn = sagemaker.create_training_job(**request_of("wire-3", **more))["TrainingJobArn"]
    assert arn.endswith(":training-job/wire-3")
    description = wait_for(sagemaker, "wire-3")
    assert description["TrainingJobStatus"] == "Completed", description
    assert description["HyperParameters"]["lr"] == "0.1" and description["RoleArn"] == ROLE
    assert description["DebugRuleEvaluationStatuses"][0]["RuleConfigurationName"] == "Stuck"
    where = {"logGroupName": GROUP, "logStreamName": "wire-3/algo-1", "startFromHead": True}
    messages = [event["message"] for event in submitting.client("logs").get_log_events(**where)["events"]]
    assert "loss: 1.5 red ['a.csv']" in messages
    assert (tmp_path / "tensors" / "wire-3" / "debug-output").readlink() == tmp_path / "runs" / "wire-3"
    with pytest.raises(OriginalError) as again:
        sagemaker.create_training_job(**request_of("wire-3", HyperParameters={"sagemaker_program": str(script)}))
    assert again.value.response["Error"]["Code"] == "ResourceInUse"


def test_the_original_creates_a_step(script: Path, tmp_path: Path, submitting: Server) -> None:
    script.write_text("import sys\nopen(sys.argv[1] + '/made.txt', 'w').write(open(sys.argv[2] + '/in.txt').read())\n")
    (tmp_path / "in.txt").write_text("words")
    place = "/opt/ml/processing"

    def given(name: str, source: Path) -> dict[str, Any]:
        place_of_input = {"S3Uri": str(source), "LocalPath": f"{place}/{name}", "S3DataType": "S3Prefix"}
        return {"InputName": name, "S3Input": {**place_of_input, "S3InputMode": "File"}}

    output = {"S3Uri": str(tmp_path / "out"), "LocalPath": f"{place}/out", "S3UploadMode": "EndOfJob"}
    sagemaker = submitting.client("sagemaker")
    request = {
        "RoleArn": ROLE,
        "AppSpecification": {
            "ImageUri": "",
            "ContainerEntrypoint": ["python3", f"{place}/code/train.py"],
            "ContainerArguments": [f"{place}/out", f"{place}/in"],
        },
        "ProcessingInputs": [given("code", script), given("in", tmp_path / "in.txt")],
        "ProcessingOutputConfig": {"Outputs": [{"OutputName": "out", "S3Output": output}]},
        "ProcessingResources": {"ClusterConfig": {"InstanceCount": 1, "InstanceType": "ml.m4.xlarge", "VolumeSizeInGB": 1}},
    }
    arn = sagemaker.create_processing_job(ProcessingJobName="step-1", **request)["ProcessingJobArn"]
    assert arn.endswith(":processing-job/step-1")
    assert wait_for(sagemaker, "step-1")["TrainingJobStatus"] == "Completed"
    assert (tmp_path / "out" / "made.txt").read_text() == "words"
    description = sagemaker.describe_processing_job(ProcessingJobName="step-1")
    assert description["ProcessingJobStatus"] == "Completed"
    assert description["ProcessingEndTime"].tzinfo is not None
    assert description["ProcessingOutputConfig"]["Outputs"][0]["OutputName"] == "out"


def test_a_request_with_mistakes_starts_nothing(script: Path, tmp_path: Path, submitting: Server) -> None:
    from botocore.exceptions import ClientError as OriginalError

    sagemaker = submitting.client("sagemaker")
    program = {"HyperParameters": {"sagemaker_program": str(script)}}
    for more, words in (
        ({**program, "VpcConfig": {"SecurityGroupIds": ["a"], "Subnets": ["b"]}}, "VpcConfig.*leave it out"),
        ({**program, "ModelPackageConfig": {"ModelPackageGroupArn": "arn:aws:a"}}, "ModelPackageConfig"),
        ({**program, "StoppingCondition": {"MaxRuntimeInSeconds": 100_000_000}}, "max_run"),
        ({}, "sagemaker_program"),
    ):
        with pytest.raises(OriginalError, match=words) as failed:
            sagemaker.create_training_job(**request_of("wrong-1", **more))
        assert failed.value.response["Error"]["Code"] == "ValidationException"
        assert not (tmp_path / "jobs" / "wrong-1").exists()


def test_a_server_that_only_shows_stops_nothing(job: str) -> None:
    pytest.importorskip("botocore")
    from botocore.exceptions import ClientError as OriginalError

    Path(os.environ["TRAINWARDEN_RUNS"]).mkdir(exist_ok=True)
    server = Server()
    try:
        assert server.client("sagemaker").describe_training_job(TrainingJobName=job)["TrainingJobName"] == job
        with pytest.raises(OriginalError, match="AccessDeniedException.*--allow-actions"):
            server.client("sagemaker").stop_training_job(TrainingJobName=job)
        with pytest.raises(OriginalError, match="AccessDeniedException.*--allow-submit"):
            server.client("sagemaker").create_training_job(**request_of("secret-1"))
    finally:
        server.stop()
    refused = subprocess.run(
        [_program.find_program(), "serve", "--aws-api", "--bind", "0.0.0.0", "--allow-remote"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert refused.returncode == 2 and "on this machine only" in refused.stderr
