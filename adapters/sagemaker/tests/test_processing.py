"""sagemaker.processing: steps that prepare or judge data, as jobs that are really submitted."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorder import files_of

import sagemaker
from sagemaker import _program
from sagemaker._keywords import Keywords
from sagemaker._processing_keywords import INPUT, OUTPUT, RUN, RUN_FRAMEWORK, RUN_SCRIPT
from sagemaker.exceptions import ClientError, NotHere, UnexpectedStatusException
from sagemaker.processing import (
    FrameworkProcessor,
    ProcessingInput,
    ProcessingJob,
    ProcessingOutput,
    Processor,
    ScriptProcessor,
)
from sagemaker.pytorch.processing import PyTorchProcessor
from sagemaker.sklearn.processing import SKLearnProcessor

STEP = """
import argparse, os
parser = argparse.ArgumentParser()
parser.add_argument("--raw")
parser.add_argument("--train")
options = parser.parse_args()
assert os.environ["SM_CHANNEL_RAW"] == options.raw, options.raw
rows = open(os.path.join(options.raw, "a.csv")).read().splitlines()
with open(os.path.join(options.train, "train.csv"), "w") as file:
    file.write("\\n".join(row.upper() for row in rows))
print("rows:", len(rows), os.environ["OUT"] == options.train)
"""


@pytest.fixture
def step(tmp_path: Path) -> Path:
    """A script that copies data in capitals."""
    (tmp_path / "work" / "raw").mkdir()
    (tmp_path / "work" / "raw" / "a.csv").write_text("a\nb\n")
    path = tmp_path / "work" / "prepare.py"
    path.write_text(STEP)
    return path


RAW = ProcessingInput("raw", "/opt/ml/processing/raw", "raw")
TRAIN = ProcessingOutput("/opt/ml/processing/train", "out/train", "train")
WORDS = ["--raw", "/opt/ml/processing/raw", "--train=/opt/ml/processing/train"]


def processor(**given: Any) -> ScriptProcessor:
    env = {"OUT": "/opt/ml/processing/train"}
    return ScriptProcessor(**{"role": "me", "command": ["python3"], "env": env, **given})


def test_a_step_runs_and_is_described(step: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = processor(base_job_name="prepare", max_runtime_in_seconds=60)
    made.run("prepare.py", inputs=[RAW], outputs=[TRAIN], arguments=WORDS)
    printed = capsys.readouterr().out
    assert "rows: 2 True\n" in printed and "Completed - " in printed
    assert (tmp_path / "work" / "out" / "train" / "train.csv").read_text() == "A\nB"
    job = made.latest_job
    assert job is not None and made.jobs == [job] and job.name.startswith("prepare-2")
    description = job.describe()
    assert description["ProcessingJobStatus"] == "Completed"
    assert description["ProcessingJobArn"].endswith(f":processing-job/{job.name}")
    assert description["AppSpecification"]["ContainerEntrypoint"][0] == "python3"
    assert description["StoppingCondition"] == {"MaxRuntimeInSeconds": 60} and description["RoleArn"] == "me"
    assert description["ProcessingEndTime"] >= description["ProcessingStartTime"]
    assert job.outputs == {"train": str(tmp_path / "work" / "out" / "train")}
    assert ProcessingJob.from_processing_name(sagemaker.Session(), job.name).name == job.name


def awaited(is_so: Callable[[], bool]) -> None:
    """Inputs are hashed by a process of their own, while the job runs already."""
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_step_is_part_of_the_lineage(step: Path) -> None:
    pytest.importorskip("trainwarden")
    from sagemaker.estimator import Estimator
    from sagemaker.experiments import Run
    from sagemaker.lineage.visualizer import LineageTableVisualizer
    from smexperiments.tracker import Tracker

    (step.parent / "out" / "train").mkdir(parents=True)
    (step.parent / "out" / "train" / "train.csv").write_text("of yesterday")
    (step.parent / "train.py").write_text("print('trains')")
    with Run("digits", "one"):
        processor().run("prepare.py", [RAW], [TRAIN], WORDS, job_name="prepare-1", logs=False)
        Estimator(entry_point="train.py", debugger_hook_config=False).fit({"train": "out/train"}, job_name="train-1")
    awaited(lambda: {"raw", "code"} <= set(Tracker.load(processing_job_name="prepare-1").trial_component.input_artifacts))
    component = Tracker.load(processing_job_name="prepare-1").trial_component
    assert component.status.primary_status == "Completed" and component.run_name == "one"
    assert component.output_artifacts["train"].value == str(step.parent / "out" / "train")
    produced = LineageTableVisualizer(sagemaker.Session()).show(trial_component_name="prepare-1-aws-training-job")
    assert "Produced" in set(produced["Association Type"])
    awaited(lambda: "train" in Tracker.load(training_job_name="train-1").trial_component.input_artifacts)
    traced = json.dumps(_program.ask("lineage", "train-1-aws-training-job"))
    assert "prepare-1-aws-training-job" in traced, "the data that it read are those that the step wrote"


def test_a_step_that_fails_is_stopped_or_cannot_be(step: Path, tmp_path: Path) -> None:
    step.write_text("import sys; sys.exit(3)")
    with pytest.raises(UnexpectedStatusException, match="exit code 3"):
        processor().run("prepare.py", logs=False)
    step.write_text("import time; time.sleep(60)")
    made = processor()
    made.run("prepare.py", wait=False, job_name="stopped-1")
    assert made.latest_job is not None
    made.latest_job.stop()
    made.latest_job.wait(logs=False)
    assert made.latest_job.describe()["ProcessingJobStatus"] == "Stopped"
    with pytest.raises(ClientError, match="ResourceInUse"):
        made.run("prepare.py", job_name="stopped-1")
    with pytest.raises(ClientError, match="ResourceNotFound"):
        ProcessingJob.from_processing_name(sagemaker.Session(), "nobody-1")
    new = ProcessingOutput("/opt/ml/processing/x", "fresh/x")
    with pytest.raises(ClientError, match="nothing is there"):
        made.run("prepare.py", inputs=[ProcessingInput("nowhere")], outputs=[new], job_name="wrong-1")
    assert not (tmp_path / "work" / "fresh" / "x").exists() and not (tmp_path / "jobs" / "wrong-1").exists()
    for call, words in (
        (lambda: made.run("none.py"), "there is no file"),
        (lambda: made.run(None), "expected the script"),
        (lambda: made.run("prepare.py", inputs=["raw"]), "expected ProcessingInput"),
        (lambda: made.run("prepare.py", outputs=["raw"]), "expected ProcessingOutput"),
        (lambda: ProcessingInput(""), "source"),
        (lambda: ProcessingOutput(""), "source"),
        (lambda: Processor().run(), "entrypoint"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


class StepRecorder:
    """A client that takes requests."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []

    def create_processing_job(self, **request: Any) -> None:
        self.requests.append(request)


def recorded(make: Any, run: dict[str, Any] | None = None, **given: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """The files of the job that a step becomes, and its request."""
    recorder = StepRecorder()
    made = make(**given, sagemaker_session=sagemaker.Session(sagemaker_client=recorder))
    script = {} if make is Processor else {"code": "prepare.py"}
    made.run(**{"job_name": "step-1", "wait": False, **script, **(run or {})})
    return files_of(recorder.requests[-1]), recorder.requests[-1]


SAMPLES: dict[str, Any] = {
    "role": "somebody",
    "image_uri": "registry.example.com/image",
    "command": ["python3", "-u"],
    "entrypoint": ["python3", "other.py"],
    "instance_count": 2,
    "instance_type": "ml.big",
    "volume_size_in_gb": 1,
    "max_runtime_in_seconds": 60,
    "env": {"COLOUR": "red"},
    "tags": [{"Key": "team", "Value": "a"}],
}


@pytest.mark.parametrize("make", [Processor, ScriptProcessor, FrameworkProcessor, PyTorchProcessor, SKLearnProcessor])
def test_each_keyword_of_a_processor(make: Any, step: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "sagemaker")
    base = {"entrypoint": ["python3", "prepare.py"]} if make is Processor else {}
    files, request = recorded(make, **base)
    for name, keyword in make.keywords.items():
        if keyword.refused or keyword.only:
            with pytest.raises(NotHere, match=name):
                make(**{name: "something"})
        elif name == "framework_version":
            recorded(make, framework_version="0.1")
            assert "not framework_version 0.1" in caplog.text
        elif name == "base_job_name":
            assert recorded(make, {"job_name": None}, **base, base_job_name="mine")[1]["ProcessingJobName"][:5] == "mine-"
        elif name == "role":
            assert recorded(make, **base, role="somebody")[1] != request
        elif name != "sagemaker_session":  # recorded() gives it
            assert recorded(make, **{**base, name: SAMPLES[name]})[0] != files, name


def test_each_keyword_of_run(step: Path) -> None:
    (step.parent / "src").mkdir()
    (step.parent / "src" / "prepare.py").write_text("")
    (step.parent / "other.py").write_text("")
    samples: dict[str, Any] = {
        "code": "other.py",
        "source_dir": "src",
        "inputs": [RAW],
        "outputs": [ProcessingOutput("/opt/ml/processing/train", "out")],
        "arguments": ["--fast"],
        "job_name": "step-2",
        "experiment_config": {"ExperimentName": "digits"},
    }
    tables: tuple[tuple[Any, Keywords], ...] = (
        (Processor, RUN),
        (ScriptProcessor, RUN_SCRIPT),
        (FrameworkProcessor, RUN_FRAMEWORK),
    )
    for make, table in tables:
        base = {"entrypoint": ["python3", "prepare.py"]} if make is Processor else {}
        files, request = recorded(make, **base)
        for name, keyword in table.items():
            if keyword.refused:
                with pytest.raises(NotHere, match=name):
                    make(**base).run(**{name: "something"})
            elif name not in ("wait", "logs"):  # the jobs above
                changed_files, changed = recorded(make, {name: samples[name]}, **base)
                assert (changed if name == "outputs" else changed_files) != (request if name == "outputs" else files), name
        assert list(inspect.signature(make.run).parameters) == ["self", *table]


def test_each_keyword_of_inputs_and_outputs(step: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["/opt/ml/processing/there"]
    taken: tuple[tuple[Keywords, Any, dict[str, Any], dict[str, Any], str], ...] = (
        (INPUT, ProcessingInput, {"source": "raw"}, {
            "source": "prepare.py",
            "destination": "/opt/ml/processing/there",
            "input_name": "mine",
            "s3_data_distribution_type": "ShardedByS3Key",
        }, "inputs"),
        (OUTPUT, ProcessingOutput, {"source": "/opt/ml/processing/here", "destination": "out"}, {
            "source": "/opt/ml/processing/there",
            "destination": "elsewhere",
            "output_name": "mine",
            "s3_upload_mode": "Continuous",
        }, "outputs"),
    )  # fmt: skip
    for table, make, base, samples, field in taken:
        plain = recorded(ScriptProcessor, {field: [make(**base)], "arguments": words})
        for name, keyword in table.items():
            if keyword.refused or keyword.only:
                with pytest.raises(NotHere, match=name):
                    make(**{**base, name: "something"})
            if name in samples:
                changed = recorded(ScriptProcessor, {field: [make(**{**base, name: samples[name]})], "arguments": words})
                seen = 0 if name in ("source", "destination") and field == "inputs" else 1
                assert changed[seen] != plain[seen], name
            else:
                assert keyword.refused or keyword.only, name
    requests = recorded(ScriptProcessor, {"outputs": [ProcessingOutput("/opt/ml/processing/a")]})[1]
    output = requests["ProcessingOutputConfig"]["Outputs"][0]
    assert output["S3Output"]["S3Uri"].endswith("/step-1/output/output-1"), "in the bucket"
    monkeypatch.delenv("TRAINWARDEN_BUCKETS")
    with pytest.raises(ValueError, match="expected destination"):
        recorded(ScriptProcessor, {"outputs": [ProcessingOutput("/opt/ml/processing/a")]})
