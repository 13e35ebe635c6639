"""Studies from Python: what is asked, told and found is what the program keeps, and its errors are exceptions."""

from __future__ import annotations

import logging
import math
import threading
from pathlib import Path
from typing import Any

import pytest

from trainwarden import errors, tuning
from trainwarden.tuning import Study, Trial, create_study

PARAMETERS: dict[str, Any] = {
    "rate": {"min": 1e-4, "max": 1.0, "log": True},
    "layers": {"min": 1, "max": 4},
    "kind": {"choices": ["sgd", "a b=c", True, 3]},
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRAINWARDEN_STUDIES", str(tmp_path / "studies"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(name: str = "first", **more: Any) -> Study:
    whole: dict[str, Any] = {
        "parameters": PARAMETERS,
        "metrics": {"f1": {"goal": "maximize", "threshold": 0.9}, "cost": {"goal": "minimize", "strategy": "store"}},
        "budget": {"trials": 8},
        "sampler": "tpe",
        "name": name,
        **more,
    }
    return create_study(whole)


def test_ask_report_and_finish_are_kept() -> None:
    study = make(metrics={"f1": {"goal": "maximize"}, "train:loss": {"goal": "minimize", "strategy": "store"}})
    trial = study.ask(worker="here")
    assert trial.number == 0 and set(trial.params) == {"rate", "layers", "kind"}
    assert isinstance(trial.params["layers"], int) and isinstance(trial.params["rate"], float)
    trial.report(10, f1=0.25)
    trial.report(20, f1=math.nan, **{"train:loss": 2})
    trial.finish(f1=0.5, **{"train:loss": math.inf})
    trial.finish(f1=0.5, **{"train:loss": math.inf})
    (record,) = Study.open("first").trials
    assert (record.state, record.worker, record.params) == ("complete", "here", trial.params)
    assert record.metrics == {"f1": 0.5, "train:loss": math.inf}
    assert record.series["f1"][0] == (10, 0.25) and math.isnan(record.series["f1"][1][1])
    assert study.best is not None and study.best.number == trial.record().number == study.front[0].number == 0
    with pytest.raises(errors.FailedPrecondition, match="ended already"):
        trial.finish(f1=0.75)


def test_the_spec_is_a_dict_or_keywords() -> None:
    study = create_study(
        {"name": "other", "seed": 1},
        name="mine",
        parameters=PARAMETERS,
        metrics={"f1": {"goal": "maximize"}},
        sampler="random",
        seed=7,
        folder="elsewhere",
    )
    assert (study.name, study.spec["seed"], study.spec["sampler"]) == ("mine", 7, "random")
    assert study.objectives == ["f1"] and study.state == "waiting"
    assert Study.open("mine", "elsewhere").trials == []
    with pytest.raises(errors.FailedPrecondition, match="no study"):
        Study.open("mine")


def test_what_is_wrong_is_an_error_with_the_programs_message() -> None:
    with pytest.raises(errors.InvalidArgument, match="expected a name"):
        create_study({"parameters": {}})
    with pytest.raises(errors.InvalidArgument, match="b: expected a goal") as caught:
        create_study(name="x", parameters={"a": {"min": 2}}, metrics={"b": {}})
    assert str(caught.value).startswith("study, parameters.a: expected min and max")
    with pytest.raises(errors.InvalidArgument, match="smpler"):
        make(smpler="tpe")
    with pytest.raises(errors.InvalidArgument, match="texts, numbers"):
        make(parameters={"a": object()})
    for name in ("-x", "../x", "a b", "--help", "x" * 53, "", "a\nb", "a/b", "\0"):
        with pytest.raises((errors.InvalidArgument, ValueError)):
            make(name)
    make()
    with pytest.raises(errors.Error, match="already"):
        make()
    with pytest.raises(errors.FailedPrecondition, match='did you mean "first"'):
        Study.open("frist")
    for name in ("--help", "-x"):
        with pytest.raises(errors.FailedPrecondition, match="no study"):
            Study.open(name)


def test_unknown_metrics_and_what_is_no_number_are_errors() -> None:
    study = make()
    trial = study.ask()
    with pytest.raises(errors.Error, match='no metric "f2"'):
        trial.report(1, f2=1)
    with pytest.raises(errors.Error, match='no metric "f2"'):
        trial.finish(f1=1, f2=1)
    for wrong in ("0.5", None, [1, 2]):
        with pytest.raises(errors.InvalidArgument, match="f1: expected a number"):
            trial.finish(f1=wrong)  # type: ignore[arg-type]
    trial.report(5, f1=1)
    with pytest.raises(errors.Error, match="step"):
        trial.report(4, f1=1)
    assert study.trials[0].state == "running"


def test_a_block_ends_its_trial() -> None:
    study = make()
    with pytest.raises(ZeroDivisionError), study.ask() as trial:
        trial.report(1, f1=0.5)
        1 / 0
    with pytest.raises(KeyboardInterrupt), study.ask():
        raise KeyboardInterrupt
    with pytest.raises(ValueError), study.ask():
        raise ValueError("--why \0 \ud800 " + "x" * 200_000)
    with study.ask():
        pass
    with pytest.raises(tuning.TrialPruned), study.ask():
        raise tuning.TrialPruned("too slow")
    states = [(trial.state, trial.why) for trial in study.trials]
    assert states[:2] == [("failed", "ZeroDivisionError: division by zero"), ("failed", "KeyboardInterrupt")]
    assert states[2][0] == "failed" and states[2][1].endswith("xxx") and len(states[2][1]) == 2000
    assert states[3:] == [("failed", "its block ended without finish()"), ("pruned", "too slow")]


def test_nan_fails_a_trial_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    study = make()
    with caplog.at_level(logging.WARNING, "trainwarden"):
        study.ask().finish(f1=math.nan)
    assert "counts as failed: f1 is NaN" in caplog.text
    assert study.trials[0].why == "f1 is NaN" and study.best is None


def test_a_study_begins_with_what_another_has_found() -> None:
    make().optimize(lambda trial: {"f1": 0.1 * trial.params["layers"]}, n_trials=3)
    second = create_study(make("other").spec, name="second", from_studies=["first"])
    assert second.spec["from"] == ["first"] and second.trials == [] and second.best is None
    with pytest.raises(errors.Error, match="no study"):
        create_study(second.spec, name="third", from_studies=["fist"])


def test_named_values_come_next() -> None:
    study = make()
    record = study.enqueue({"rate": 0.5, "layers": 2, "kind": "a b=c"})
    assert (record.state, record.sampler, record.number) == ("waiting", "user", 0)
    study.enqueue({"rate": 1e-4, "layers": 2, "kind": True})
    study.enqueue({"rate": 1e-4, "layers": 2, "kind": 3})
    assert study.ask().params == {"rate": 0.5, "layers": 2, "kind": "a b=c"}
    assert study.ask().params["kind"] is True
    assert study.ask().params["kind"] == 3
    with pytest.raises(errors.Error, match="kind"):
        study.enqueue({"rate": 0.5, "layers": 2})
    with pytest.raises(errors.Error):
        study.enqueue({"rate": 5, "layers": 2, "kind": 3})


def test_optimize_runs_to_the_target_and_says_so() -> None:
    study = make(budget={"trials": 8})
    assert not study.outcome.is_met and study.outcome.best is None
    study.optimize(lambda trial: 0.1 * (trial.number + 1), n_trials=2)
    assert [trial.state for trial in study.trials] == ["complete"] * 2
    assert not study.outcome.is_met and study.outcome.sentence.startswith("The target was not met (f1 at least 0.9)")
    study.optimize(lambda trial: {"f1": 0.95, "cost": 3.0})
    assert study.outcome.is_met and study.best is not None
    assert study.best.metrics == {"f1": 0.95, "cost": 3.0} and len(study.trials) == 3
    with pytest.raises(tuning.StudyEnded, match="the study has ended"):
        study.ask()
    assert study.state.startswith("ended: ")


def test_what_an_objective_raises_goes_on_unless_it_is_caught() -> None:
    study = make()

    def objective(trial: Trial) -> float:
        if trial.number == 0:
            raise ValueError("bad")
        if trial.number == 1:
            raise tuning.TrialPruned
        if trial.number == 2:
            return math.nan
        if trial.number == 3:
            raise KeyboardInterrupt
        return 0.5

    study.optimize(objective, n_trials=3, catch=(ValueError,))
    assert [trial.state for trial in study.trials] == ["failed", "pruned", "failed"]
    with pytest.raises(KeyboardInterrupt):
        study.optimize(objective)
    assert study.trials[3].why == "KeyboardInterrupt"
    for wrong in (None, "0.5", {"f1": "x"}):
        with pytest.raises(errors.InvalidArgument, match="expected a number"):
            study.optimize(lambda trial, wrong=wrong: wrong, n_trials=1)  # type: ignore[misc]
    with pytest.raises(errors.Error, match='no metric "f3"'):
        study.optimize(lambda trial: {"f3": 1.0})
    assert [trial.state for trial in study.trials[4:]] == ["failed"] * 4
    assert study.outcome.sentence.endswith("no trial is complete: 7 failed, 1 were pruned")


def test_several_run_at_once() -> None:
    study = make(metrics={"f1": {"goal": "maximize"}}, budget={"trials": 6})
    both = threading.Barrier(2, timeout=60)

    def objective(trial: Trial) -> float:
        both.wait()
        return float(trial.number)

    study.optimize(objective, n_jobs=2)
    assert [trial.metrics["f1"] for trial in study.trials] == [0, 1, 2, 3, 4, 5]
    with pytest.raises(errors.InvalidArgument, match="n_jobs"):
        study.optimize(objective, n_jobs=0)


def test_an_exception_of_one_waits_for_the_others() -> None:
    study = make()

    def objective(trial: Trial) -> float:
        if trial.number == 1:
            raise ValueError("bad")
        return 0.5

    with pytest.raises(ValueError, match="bad"):
        study.optimize(objective, n_jobs=2)
    assert "running" not in {trial.state for trial in study.trials}


def test_a_pruner_ends_a_trial_that_asks_it() -> None:
    study = make(metrics={"f1": {"goal": "maximize"}}, pruner="threshold:min=0.5", budget={"trials": 2})

    def objective(trial: Trial) -> float:
        for step in range(3):
            trial.report(step, f1=0.9 if trial.number or step < 1 else 0.1)
            if trial.should_prune():
                raise tuning.TrialPruned
        return 0.9

    study.optimize(objective)
    first, second = study.trials
    assert (first.state, second.state) == ("pruned", "complete")
    assert first.why and [step for step, _ in first.series["f1"]] == [0, 1]


def test_two_objectives_have_a_front() -> None:
    study = make(metrics={"a": {"goal": "minimize"}, "b": {"goal": "minimize"}}, budget={"trials": 3})
    with pytest.raises(errors.InvalidArgument, match="a dict with a, b"):
        study.optimize(lambda trial: 1.0, n_trials=1)
    study.optimize(lambda trial: {"a": trial.number, "b": -trial.number})
    assert [trial.number for trial in study.front] == [1, 2]


def test_objectives_for_optuna_run_on_a_declared_space() -> None:
    def objective(trial: Any) -> float:
        rate = trial.suggest_float("rate", 1e-4, 1.0, log=True)
        half = trial.suggest_float("half", 0, 2, step=0.5)
        layers = trial.suggest_int("layers", 1, 4)
        kind = trial.suggest_categorical("kind", ["adam", "sgd"])
        if kind == "sgd":
            trial.suggest_float("momentum", 0.0, 0.9)
        assert type(rate) is float and type(layers) is int and half in (0, 0.5, 1, 1.5, 2)
        return layers * rate

    parameters = tuning.declare(objective)
    assert set(parameters) == {"rate", "half", "layers", "kind"}  # momentum is behind a condition
    study = make("declared", parameters=parameters, budget={"trials": 10})
    with pytest.raises(errors.InvalidArgument, match='no parameter "momentum".*`when`'):
        study.optimize(objective)
    momentum = {"min": 0.0, "max": 0.9, "when": {"kind": ["sgd"]}}
    study = make("whole", parameters={**parameters, "momentum": momentum}, budget={"trials": 10})
    study.optimize(objective, n_trials=4)
    assert {trial.state for trial in study.trials} == {"complete"}


def test_an_objective_that_asks_for_another_space_is_told_how() -> None:
    study = make(parameters={**PARAMETERS, "only": {"min": 1, "max": 2, "when": {"kind": ["sgd"]}}})
    study.enqueue({"rate": 0.5, "layers": 2, "kind": True})
    trial = study.ask()
    assert trial.suggest_float("rate", 1e-4, 1, log=True) == 0.5
    assert trial.suggest_categorical("kind", [3, True, "sgd", "a b=c"]) is True
    with pytest.raises(errors.InvalidArgument, match="declares real, min 0.0001, max 1, log, the obj.* real"):
        trial.suggest_float("rate", 1e-4, 1)
    with pytest.raises(errors.InvalidArgument, match="max 4, the objective asks for integer, min 1, max 5"):
        trial.suggest_int("layers", 1, 5)
    with pytest.raises(errors.InvalidArgument, match="step 2"):
        trial.suggest_int("layers", 1, 4, step=2)
    with pytest.raises(errors.InvalidArgument, match="integer"):
        trial.suggest_float("layers", 1, 4)
    with pytest.raises(errors.InvalidArgument, match="choices"):
        trial.suggest_categorical("kind", [3, 1, "sgd", "a b=c"])
    with pytest.raises(errors.InvalidArgument, match="only does not exist in this trial: .* kind = sgd"):
        trial.suggest_int("only", 1, 2)


def test_declare_refuses_two_spaces_of_one_name_and_none() -> None:
    def twice(trial: Any) -> None:
        trial.suggest_int("a", 1, 2)
        trial.suggest_int("a", 1, 3)

    with pytest.raises(errors.InvalidArgument, match="max 2 and for"):
        tuning.declare(twice)
    with pytest.raises(errors.InvalidArgument, match="no parameter"):
        tuning.declare(lambda trial: None)


def test_a_lost_trial_is_given_to_others() -> None:
    study = make()
    lost = study.ask(lease_s=0.001)
    again = study.ask(lease_s=600)
    assert again.number == lost.number and study.trials[0].attempts == 2


def test_a_trial_is_ended_by_its_number() -> None:
    study = make()
    study.ask()
    study.trial(0).finish(f1=0.5)
    assert study.trials[0].state == "complete"
    with pytest.raises(errors.FailedPrecondition, match="no trial 7"):
        study.trial(7)


def test_a_stopped_study_goes_on() -> None:
    study = make()
    study.stop()
    with pytest.raises(tuning.StudyEnded):
        study.ask()
    study.resume()
    assert study.ask().number == 0


def test_importance_is_a_record() -> None:
    study = make(metrics={"f1": {"goal": "maximize"}}, budget={"trials": 40}, sampler="random")
    few = study.importance()
    assert (few.study, few.metric, few.trials, few.fanova) == ("first", "f1", 0, None) and "20 complete" in few.note
    study.optimize(lambda trial: trial.params["layers"])
    found = study.importance("f1")
    assert found.trials == 40 and found.left_out == 0 and found.ped_anova[0].parameter == "layers"
    assert found.fanova is not None and found.fanova.trusted and found.fanova.r2 is not None and found.fanova.r2 > 0.5
    first = found.fanova.single[0]
    assert first.parameter == "layers" and 0 < first.low <= first.importance <= first.high <= 1
    assert all(len(pair.parameters) == 2 for pair in found.fanova.pairs)
    with pytest.raises(errors.InvalidArgument, match='found "em"'):
        study.importance("em")


def test_a_frame_has_a_row_for_each_trial() -> None:
    pytest.importorskip("pandas")
    study = make()
    study.optimize(lambda trial: 0.5, n_trials=2)
    frame = study.to_pandas()
    assert frame["number"].tolist() == [0, 1] and frame["metrics_f1"].tolist() == [0.5, 0.5]
    assert frame["params_layers"].tolist() == [trial.params["layers"] for trial in study.trials]


def test_values_that_come_again_have_their_result_at_once() -> None:
    study = make(parameters={"layers": {"min": 1, "max": 9}})
    study.enqueue({"layers": 3})
    study.ask().finish(f1=0.5, cost=2)
    study.enqueue({"layers": 3})
    other = study.ask()
    first, second = study.trials[:2]
    assert first.same_as is None and second.same_as == ("", 0) and second.metrics == first.metrics
    assert (second.state, second.why, second.seconds) == ("complete", "the same values as trial 0", 0)
    assert other.number == 2 and not second.by_verdict
