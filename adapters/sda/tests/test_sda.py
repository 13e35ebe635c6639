"""The advisor: trainings really run, their trials are kept, and a target that is missed is said."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from e2eAIOK.SDA.advice import advice
from e2eAIOK.SDA.errors import SDAError, TargetMissed
from e2eAIOK.SDA.SDA import SDA

from trainwarden.tuning import (
    ForestImportance,
    Importance,
    Outcome,
    PairImportance,
    ParameterImportance,
    Study,
    TrialRecord,
)

SPACE = [{"name": "rate", "bounds": {"min": 0.0, "max": 1.0}, "type": "double"}]


def advisor(info: dict[str, Any], **settings: Any) -> SDA:
    sda = SDA(model="Digits", settings=settings)
    sda.register({"execute_cmd": [sys.executable, "train.py"], "score_metrics": [("f1", "maximize")], **info})
    return sda


def study_of(sda: SDA) -> Study:
    return Study.open(sda.snapshot().study, sda.snapshot().studies)


def calls() -> list[list[str]]:
    return [json.loads(line) for line in Path("calls.txt").read_text().splitlines()]


def explained(sda: SDA, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    sda.snapshot().explain()
    return capsys.readouterr().out.splitlines()


def test_without_a_search_there_is_one_training_with_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    sda = advisor({"hyper_parameters": {"rate": 0.2, "result": "printed", "layers": [1, 2]}, "hpo_config": SPACE})
    path, metrics = sda.launch()
    assert metrics["f1"] == pytest.approx(0.8) and 0 < metrics["training_time"] < 60
    assert Path(path, "model.txt").read_text() == "weights" and sda.exit_code == 0
    (words,) = calls()
    assert words[:2] == ["--rate", "0.2"] and words[-2:] == ["--saved_path", path]
    assert words[words.index("--layers") + 1] == "[1, 2]"
    lines = explained(sda, capsys)
    assert lines[0].startswith("The best is f1 0.8") and lines[1].startswith("We found the best model!")
    assert "  Model Type: digits" in lines and "  Sigopt Experiment id is None" in lines
    assert lines[-1].startswith("Next: this was one training")


def test_a_search_stops_at_the_target_and_keeps_all_trials(capsys: pytest.CaptureFixture[str]) -> None:
    sda = advisor({"hpo_config": SPACE, "hyper_parameters": {"rate": 1.0}}, enable_sigopt=True,
                  observation_budget=30, metric="f1", metric_threshold=0.6)  # fmt: skip
    result = sda.launch()
    assert result.target_met and result.exit_code == sda.exit_code == 0 and result[1]["f1"] >= 0.6
    trials = study_of(sda).trials
    assert trials[0].params == {"rate": 1.0}  # the default comes first
    assert 1 < len(trials) < 30 and trials[-1].metrics["f1"] >= 0.6
    assert all(trial.metrics["f1"] < 0.6 for trial in trials[:-1])
    lines = explained(sda, capsys)
    assert lines[0].startswith("The target is met (f1 at least 0.6)") and lines[-1].endswith("the target is met.")
    assert json.loads(Path("latest_hydro_model").read_text())["metrics"] == result[1]


def test_a_target_that_is_missed_is_said_first(capsys: pytest.CaptureFixture[str]) -> None:
    sda = advisor({"hpo_config": SPACE, "observation_budget": 2}, enable_sigopt=True, metric_threshold=90.87)
    result = sda.launch()
    assert result.target_met is False and result.exit_code == sda.exit_code == 5
    assert len(study_of(sda).trials) == 2
    lines = explained(sda, capsys)
    assert lines[0].startswith("The target was not met (f1 at least 90.87): the best is f1 0.")
    assert not any("best model" in line for line in lines if "***" not in line)
    assert lines[-1].startswith("Next: ")
    with pytest.raises(TargetMissed, match="not met"):
        sda.launch(strict=True)
    assert len(study_of(sda).trials) == 4


def test_what_mattered_is_explained_with_how_sure_that_is(capsys: pytest.CaptureFixture[str]) -> None:
    space = [*SPACE, {"name": "idle", "bounds": {"min": 0.0, "max": 1.0}, "type": "double"}]
    sda = advisor({"hpo_config": space, "observation_budget": 1}, enable_sigopt=True, metric_threshold=0.95)
    sda.launch()
    few = explained(sda, capsys)
    assert any("20 complete trials with f1 are needed, there is 1" in line for line in few)
    short = 0.95 - sda.snapshot().metrics["f1"]
    assert f"    f1: at least 0.95 was asked for, {0.95 - short:g} found: {short:g} short" in few
    study = study_of(sda)
    for i in range(40):
        rate = i * 7 % 40 / 40
        trial = study.enqueue({"rate": rate, "idle": i * 11 % 40 / 40})
        study.trial(trial.number).finish(f1=0.9 - abs(rate - 0.3), training_time=1)
    sda.launch()
    lines = explained(sda, capsys)
    assert any(line.startswith("    rate: ") and line.endswith("of what makes a trial one of the best") for line in lines)
    assert any(line.startswith("    a forest explains 0.") for line in lines)
    assert lines[-1].startswith("Next: ")


def test_what_to_try_next_follows_from_what_mattered() -> None:
    best = TrialRecord(
        number=3, state="complete", params={"rate": 1.0, "idle": 0.0}, metrics={"f1": 0.5}, series={}, sampler="tpe",
        worker="", job="", attempts=1, suggested_unix_ns=0, started_unix_ns=0, ended_unix_ns=0, seconds=1, why="",
    )
    outcome = Outcome("missed", True, False, 3, True, [3])
    space = {"rate": {"min": 0, "max": 1}, "idle": {"min": 0, "max": 1}}
    shares = [ParameterImportance("rate", 0.97, 0.9, 1.0), ParameterImportance("idle", 0.01, 0.0, 0.04)]
    pairs = [PairImportance(("rate", "idle"), 0.01, 0.0, 0.03)]
    sure = Importance("s", "f1", 60, 0, "", shares, ForestImportance(0.9, True, shares, pairs))
    assert advice(outcome, [best], best, space, True, sure).splitlines() == [
        "Next: widen the range where the best lies at its end: rate 1 (upper end).",
        "Next: fix what does not matter, and search the rest: idle 0.",
    ]
    unsure = Importance("s", "f1", 60, 0, "", shares, ForestImportance(0.1, False, [], []))
    for little in (unsure, None):
        said = advice(outcome, [best], best, space, True, little)
        assert said.endswith("rate 1 (upper end), idle 0 (lower end).") and "fix" not in said
    together = ForestImportance(0.9, True, shares, [PairImportance(("rate", "idle"), 0.2, 0.1, 0.3)])
    assert "fix" not in advice(outcome, [best], best, space, True, Importance("s", "f1", 60, 0, "", shares, together))


def test_a_time_that_is_too_long_misses_the_target() -> None:
    sda = advisor({"hyper_parameters": {"rate": 0.3}}, metric_threshold=0.5, training_time_threshold=1e-6)
    result = sda.launch()
    assert result.target_met is False and result[1]["f1"] == pytest.approx(0.9)
    assert "training_time at most 1e-06" in sda.snapshot().verdict


def test_a_training_that_crashes_is_a_failed_trial_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    Path("crash").touch()
    sda = advisor({"hpo_config": SPACE}, enable_sigopt=True, observation_budget=2, metric_threshold=0.1)
    result = sda.launch()
    assert result == ("", {}) and result.exit_code == sda.exit_code == 1 and result.target_met is False
    assert [trial.state for trial in study_of(sda).trials] == ["failed", "failed"]
    lines = explained(sda, capsys)
    assert lines[0].startswith("The target was not met (f1 at least 0.1): no trial is complete: 2 failed")
    assert "exit code 7: out of memory" in lines[-1]
    Path("crash").unlink()
    assert sda.launch().target_met is True
    assert [trial.state for trial in study_of(sda).trials[:2]] == ["failed", "failed"]


def test_a_command_that_is_not_there_is_a_failed_trial() -> None:
    sda = advisor({"execute_cmd": "./nothing-here"})
    assert sda.launch().exit_code == 1
    assert "nothing-here" in study_of(sda).trials[0].why


@pytest.mark.parametrize("form", ["number", "lines", "json"])
def test_results_are_read_from_a_file(form: str) -> None:
    sda = advisor({"result_file_name": "result", "hyper_parameters": {"rate": 0.3, "result": form}})
    assert sda.launch()[1]["f1"] == pytest.approx(0.9)


def test_a_result_of_an_earlier_training_is_none() -> None:
    Path("f1.txt").write_text("0.99")
    sda = advisor({"result_file_name": "f1.txt", "hyper_parameters": {"result": "nothing"}})
    assert sda.launch().exit_code == 1
    assert "no result file was written" in study_of(sda).trials[0].why
    sda = advisor({"hyper_parameters": {"result": "nothing"}})
    assert sda.launch().exit_code == 1
    assert "no f1 in " in study_of(sda).trials[-1].why


def test_one_number_is_not_two_metrics() -> None:
    sda = advisor({"result_file_name": "result", "hyper_parameters": {"result": "number"},
                   "score_metrics": [("f1", "maximize"), ("em", "maximize")]})  # fmt: skip
    assert sda.launch().exit_code == 1
    assert "expected lines NAME: NUMBER of f1, em, found one number" in study_of(sda).trials[0].why


def test_nan_is_a_failed_trial() -> None:
    Path("nan.py").write_text("print('f1: nan')")
    sda = advisor({"execute_cmd": [sys.executable, "nan.py"]}, metric_threshold=0.5)
    assert sda.launch().target_met is False
    assert study_of(sda).trials[0].why == "f1 is NaN" and not math.isfinite(float("nan"))


def test_the_yaml_of_the_advisor_is_understood(folder: Path) -> None:
    (folder / "sda.yaml").write_text(
        textwrap.dedent(
            """
            Parameters for SDA auto optimization:
              - rate: 2.0e-1~4.0e-1
              - layers: 1~4
              - batch_size: [12, 16]
              - seed: 7
            metrics:
            - name: training_time
              objective: minimize
              threshold: 1e4
            - name: f1
              objective: maxmize
              threshold: 0.75
            """
        )
    )
    sda = advisor({"score_metrics": []}, conf="sda.yaml", enable_sigopt=True, observation_budget=4)
    assert sda.launch().target_met is True
    spec = study_of(sda).spec
    assert spec["parameters"]["rate"] == {"kind": "real", "min": 0.2, "max": 0.4}
    assert spec["parameters"]["layers"] == {"kind": "integer", "min": 1.0, "max": 4.0}
    assert spec["parameters"]["batch_size"]["choices"] == [12, 16] and spec["parameters"]["seed"]["choices"] == [7]
    assert spec["metrics"]["f1"] == {"goal": "maximize", "strategy": "optimize", "threshold": 0.75}
    assert spec["metrics"]["training_time"] == {"goal": "minimize", "strategy": "optimize", "threshold": 10000}
    assert list(sda.snapshot().metrics) == ["f1", "training_time"]


def test_a_name_alone_is_a_flag() -> None:
    sda = advisor({"hpo_config": [{"name": "fast"}]}, enable_sigopt=True, observation_budget=5)
    sda.launch()
    assert sorted("--fast" in words for words in calls()) == [False, True]  # and then every point was tried


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric_treshold": 1}, 'unknown key "metric_treshold"; did you mean "metric_threshold"'),
        ({"metric_threshold": "high"}, "metric_threshold: expected a number, found 'high'"),
        ({"observation_budget": 0}, "observation_budget: expected a whole number"),
        ({"conf": "nowhere.yaml"}, "nowhere.yaml"),
        ({"conf": {"paramters": []}}, 'unknown key "paramters"'),
        ({"conf": {"metric_threshold": "high"}}, "metric_threshold: expected a number"),
    ],
)
def test_what_is_wrong_with_settings_is_an_error(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SDAError, match=message):
        SDA(model="digits", settings=settings)


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ({"execute_command": "true"}, 'register: unknown key "execute_command"; did you mean "execute_cmd"'),
        ({}, "expected a command, found None"),
        ({"execute_cmd": "python3 'train.py"}, "No closing quotation"),
        ({"execute_cmd": "cd there && python3 train.py"}, "no shell takes part"),
    ],
)
def test_what_is_wrong_with_a_model_is_an_error(info: dict[str, Any], message: str) -> None:
    with pytest.raises(SDAError, match=message):
        SDA(model="digits").register(info)


def test_what_is_wrong_with_a_launch_is_an_error() -> None:
    with pytest.raises(SDAError, match="expected a model"):
        SDA()
    for name, message in (("dlrm", "in Intel's kit and none here"), ("mine", "is not known")):
        with pytest.raises(SDAError, match=message):
            SDA(model=name).launch()
    with pytest.raises(SDAError, match="score_metrics"):
        advisor({"score_metrics": []}).launch()
    with pytest.raises(SDAError, match='"em" is none of the metrics f1'):
        advisor({}, metric="em").launch()
    with pytest.raises(SDAError, match="nothing is to be searched"):
        advisor({}, enable_sigopt=True).launch()
    with pytest.raises(SDAError, match='did you mean "bounds"'):
        advisor({"hpo_config": [{"name": "a", "bonds": {}}]}, enable_sigopt=True).launch()


def test_settings_of_no_effect_are_said(caplog: pytest.LogCaptureFixture) -> None:
    SDA(model="digits", settings={"ppn": 4, "mpi_num_processes": 1, "python_path": "/opt"})
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [line.split()[1] for line in warned] == ["ppn", "python_path"]
    caplog.clear()
    advisor({"hyper_parameters": {"rate": 0.3}, "experiment_name": "x"}, num_epochs=2).launch()
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [line.split()[1] for line in warned] == ["experiment_name", "num_epochs"]


def test_hostile_names_are_names() -> None:
    name = "../../x; touch pwned $(touch pwned) `touch pwned` \n"
    sda = SDA(model=name)
    value = "$(touch pwned); touch pwned"
    sda.register({"execute_cmd": [sys.executable, "train.py"], "score_metrics": [("f1", "maximize")],
                  "hyper_parameters": {"a b;c": value, "x": "--saved_path=/"}})  # fmt: skip
    path, _ = sda.launch()
    assert Path(path).is_relative_to(Path.cwd() / "result") and not list(Path.cwd().rglob("pwned"))
    (words,) = calls()
    assert words[words.index("--a b;c") + 1] == value and "--x=--saved_path=/" in words


def test_a_hydro_model_hands_its_values_on() -> None:
    first = advisor({"hpo_config": SPACE}, enable_sigopt=True, observation_budget=2)
    first.launch()
    second = SDA(model="digits", hydro_model=first.snapshot(), custom_result_path="elsewhere")
    second.register({"execute_cmd": [sys.executable, "train.py"], "score_metrics": [("f1", "maximize")]})
    second.launch()
    assert second.snapshot().model_parameters == first.snapshot().model_parameters
    assert Path("elsewhere/latest_hydro_model").is_file()


def test_a_launch_that_is_killed_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    """The advisor and its training are killed in the second trial."""
    program = textwrap.dedent(
        f"""
        from e2eAIOK.SDA.SDA import SDA
        sda = SDA(model="digits", settings={{"enable_sigopt": True, "observation_budget": 3}})
        sda.register({{
            "execute_cmd": [{sys.executable!r}, "slow.py"],
            "score_metrics": [("f1", "maximize")],
            "hpo_config": {SPACE!r},
        }})
        sda.launch()
        """
    )
    Path("slow.py").write_text(
        "import os, sys, time\nprint('f1: 0.5', flush=True)\nfirst = not os.path.exists('begun')\n"
        "open('begun', 'w').close()\nif not first and not os.path.exists('quick'):\n"
        "    open('pid', 'w').write(str(os.getpid()))\n    os.rename('pid', 'second')\n    time.sleep(600)\n"
    )
    launch = [sys.executable, "-c", program]
    killed = subprocess.Popen(launch, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not Path("second").exists():
        assert time.monotonic() < deadline and killed.poll() is None
        time.sleep(0.02)
    killed.kill()
    killed.wait()
    (name,) = os.listdir("studies")
    training = int(Path("second").read_text())
    assert [trial.state for trial in Study.open(name, "studies").trials] == ["complete", "running"]
    os.kill(training, signal.SIGKILL)
    Path("quick").touch()
    again = subprocess.run(launch, capture_output=True, text=True, check=True)
    assert "trial 1 was interrupted: its values are tried again as trial 2" in again.stderr
    assert "has 2 trials of earlier launches" in again.stderr
    trials = Study.open(name, "studies").trials
    assert [trial.state for trial in trials] == ["complete", "failed", "complete", "complete", "complete"]
    assert trials[1].params == trials[2].params and trials[1].why == "its process is gone"
    SDA(model="digits")
    assert "Model Type: digits" in capsys.readouterr().out  # what an earlier launch has found


def test_ctrl_c_while_the_training_starts_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    start, started = subprocess.Popen, []

    def start_and_interrupt(*args: Any, **options: Any) -> Any:
        started.append(start(*args, **options))
        os.kill(os.getpid(), signal.SIGINT)
        return started[0]

    Path("slow.py").write_text("import time; time.sleep(60)")
    sda = advisor({"execute_cmd": [sys.executable, "slow.py"]})
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    patched = SimpleNamespace(**{**vars(subprocess), "Popen": start_and_interrupt})
    monkeypatch.setattr("e2eAIOK.SDA.process.subprocess", patched)
    try:
        with pytest.raises(KeyboardInterrupt):
            sda.launch()
    finally:
        signal.signal(signal.SIGINT, before)
    assert started[0].poll() is not None


def test_ctrl_c_ends_the_training_and_is_raised() -> None:
    Path("slow.py").write_text(
        "import os, signal, time\nopen('pid', 'w').write(str(os.getpid()))\nos.kill(os.getppid(), signal.SIGINT)\n"
        "time.sleep(60)\n"
    )
    sda = advisor({"execute_cmd": [sys.executable, "slow.py"]})
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
    try:
        with pytest.raises(KeyboardInterrupt):
            sda.launch()
    finally:
        signal.signal(signal.SIGINT, before)
    with pytest.raises(ProcessLookupError):
        os.kill(int(Path("pid").read_text()), 0)
    assert (study_of(sda).trials[0].state, study_of(sda).trials[0].why) == ("failed", "KeyboardInterrupt")
