"""Scripts for Optuna run on ours after changing the import."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import optuna_objectives as objectives
import pytest

import trainwarden.tuning as optuna
from trainwarden import errors


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRAINWARDEN_STUDIES", str(tmp_path / "studies"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_number_is_found() -> None:
    study = optuna.create_study(study_name="quadratic")
    study.optimize(objectives.quadratic, n_trials=20)
    assert len(study.trials) == 20 and study.best_value == study.best_trial.value == min(t.value for t in study.trials)
    assert study.best_params["x"] == pytest.approx(2, abs=math.sqrt(study.best_value) + 1e-9)
    assert study.direction == optuna.study.StudyDirection.MINIMIZE
    assert {trial.state for trial in study.trials} == {optuna.trial.TrialState.COMPLETE} == {"complete"}


def test_each_branch_has_its_own_parameters() -> None:
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=3), study_name="classifier")
    study.optimize(objectives.classifier, n_trials=25)
    for trial in study.trials:
        own = {"svc_c"} if trial.params["classifier"] == "SVC" else {"rf_max_depth", "rf_trees"}
        assert set(trial.params) == own | {"classifier"}
    assert {trial.params["classifier"] for trial in study.trials} == {"SVC", "RandomForest"}
    again = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=3), study_name="again")
    again.optimize(objectives.classifier, n_trials=25)
    assert [trial.params for trial in again.trials] == [trial.params for trial in study.trials]


def test_a_curve_is_pruned() -> None:
    study = optuna.create_study(
        direction="minimize", pruner=optuna.pruners.MedianPruner(n_startup_trials=3), study_name="curve"
    )
    study.optimize(objectives.pruned_curve(optuna), n_trials=15)
    pruned = study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.PRUNED])
    assert pruned and study.spec["pruner"].startswith("median:startup_trials=3")
    assert all(trial.value == trial.intermediate_values[trial.last_step or 0] for trial in pruned)
    complete = study.get_trials(states=(optuna.trial.TrialState.COMPLETE,))
    assert len(complete) + len(pruned) == 15 and study.best_trial.number in {trial.number for trial in complete}


def test_several_goals_have_a_front_in_the_order_of_the_objective() -> None:
    study = optuna.create_study(directions=["minimize", "minimize"], study_name="goals")
    study.optimize(objectives.two_goals, n_trials=12)
    for trial in study.trials:
        assert trial.values == pytest.approx(list(objectives.two_goals(_Fixed(trial.params))))
    front = study.best_trials
    assert front and all(
        not (other.values[0] < trial.values[0] and other.values[1] < trial.values[1])  # type: ignore[index]
        for trial in front
        for other in study.trials
    )
    with pytest.raises(RuntimeError, match="best_trials"):
        study.best_trial  # noqa: B018


def test_choices_are_the_very_objects() -> None:
    study = optuna.create_study(direction="minimize", study_name="categories")
    study.optimize(objectives.categories, n_trials=12)
    assert all("features" in trial.user_attrs for trial in study.trials)
    kept = {str(trial.user_attrs["features"]) for trial in study.trials}
    assert kept <= {"sqrt", "None", "0.5", "3", "True"} and len(kept) > 2


def test_loops_of_parameters_grow_the_space() -> None:
    study = optuna.create_study(study_name="network")
    study.optimize(objectives.network, n_trials=15)
    for trial in study.trials:
        layers = trial.params["n_layers"]
        assert set(trial.params) == {"n_layers", *(f"n_units_l{i}" for i in range(int(layers)))}
        assert trial.value == sum(int(trial.params[f"n_units_l{i}"]) for i in range(int(layers)))


def test_ask_tell_enqueue_and_load() -> None:
    study = optuna.create_study(study_name="my study_1", direction="maximize")
    study.enqueue_trial({"x": 0.25, "later": 7})
    trial = study.ask()
    assert trial.suggest_float("x", 0, 1) == 0.25 and trial.params == {"x": 0.25}
    assert trial.suggest_int("later", 0, 9) == 7
    assert study.tell(trial, 0.5).value == 0.5
    other = study.ask()
    other.suggest_float("x", 0, 1)
    study.tell(other.number, state=optuna.trial.TrialState.PRUNED)
    failed = study.ask()
    study.tell(failed, state=optuna.trial.TrialState.FAIL)
    loaded = optuna.load_study(study_name="my study_1")
    assert [each.state for each in loaded.trials] == ["complete", "pruned", "failed"]
    assert loaded.trials[1].params.keys() == {"x"}  # it never asked for the other one
    assert loaded.best_params == {"x": 0.25, "later": 7}
    with pytest.raises(optuna.exceptions.DuplicatedStudyError):
        optuna.create_study(study_name="my study_1")
    assert len(optuna.create_study(study_name="my study_1", load_if_exists=True).trials) == 3


def test_callbacks_timeouts_and_stop_end_the_call() -> None:
    study = optuna.create_study(study_name="calls")
    seen: list[tuple[str, int]] = []

    def stop_at_three(of: Any, trial: Any) -> None:
        seen.append((of.study_name, trial.number))
        if trial.number == 2:
            of.stop()

    study.optimize(objectives.quadratic, n_trials=20, callbacks=[stop_at_three])
    assert seen == [("calls", 0), ("calls", 1), ("calls", 2)] and study.state == "waiting"
    study.optimize(objectives.quadratic, n_trials=20, timeout=0)
    assert len(study.trials) == 3
    study.optimize(lambda trial: 1 / 0, n_trials=1, catch=ZeroDivisionError)
    assert study.trials[3].state == optuna.TrialState.FAIL


def test_ranges_may_change_and_kinds_may_not() -> None:
    study = optuna.create_study(study_name="ranges")
    first, second = study.ask(), study.ask()
    assert 0 <= first.suggest_float("x", 0, 1) <= 1
    assert 5 <= second.suggest_float("x", 5, 6) <= 6
    third = study.ask()
    assert 0.5 <= third.suggest_float("x", 0.5, 1) <= 1
    assert third.suggest_float("x", 0.5, 1) == third.params["x"]
    space = optuna.load_study(study_name="ranges").spec["parameters"]["x"]
    assert (space["min"], space["max"], space["optional"]) == (0, 6, True)
    with pytest.raises(errors.FailedPrecondition, match="x: it is a number from 0 to 6 .*asks for a whole number from 1"):
        third.suggest_int("x", 1, 2)
    third.suggest_categorical("kind", ["a", "b"])
    with pytest.raises(errors.FailedPrecondition, match="choices cannot change"):
        third.suggest_categorical("kind", ["a", "c"])
    for low, high in ((2, 1), (math.nan, 1), (0, math.inf)):
        with pytest.raises(errors.InvalidArgument, match="low <= high"):
            third.suggest_float("y", low, high)
    with pytest.raises(errors.InvalidArgument, match="look the objects up"):
        third.suggest_categorical("z", [(1, 2)])


def test_old_names_and_a_step_said_twice(caplog: pytest.LogCaptureFixture) -> None:
    study = optuna.create_study(study_name="old")
    trial = study.ask()
    assert 1 <= trial.suggest_uniform("a", 1, 2) <= 2 and 1 <= trial.suggest_loguniform("b", 1, 2) <= 2
    assert trial.suggest_discrete_uniform("c", 0, 1, 0.5) in (0, 0.5, 1)
    trial.report(1.0, 0)
    with caplog.at_level(logging.WARNING, "trainwarden"):
        trial.report(2.0, step=0)
    assert "step 0 already" in caplog.text
    study.tell(trial, 1.0)
    assert study.trials[0].intermediate_values == {0: 1.0}


def test_the_study_of_another_process_goes_on() -> None:
    """Suggestions depend on what is kept alone."""
    whole = optuna.create_study(study_name="whole")
    whole.optimize(objectives.classifier, n_trials=14)
    parts = optuna.create_study(study_name="parts")
    for _ in range(14):
        optuna.load_study(study_name="parts").optimize(objectives.classifier, n_trials=1)
    assert [trial.params for trial in parts.trials] == [trial.params for trial in whole.trials]


def test_small_spaces_do_not_end_an_open_study() -> None:
    study = optuna.create_study(study_name="small")
    study.optimize(lambda trial: trial.suggest_int("x", 0, 1), n_trials=5)
    assert len(study.trials) == 5


def test_what_is_not_supported_says_so() -> None:
    with pytest.raises(errors.InvalidArgument, match="study import"):
        optuna.create_study(storage="sqlite:///a.db")
    with pytest.raises(errors.InvalidArgument, match="n_startup_trials"):
        optuna.samplers.TPESampler(n_startup_trials=3)
    with pytest.raises(errors.InvalidArgument, match="bootstrap_count"):
        optuna.pruners.HyperbandPruner(bootstrap_count=1)
    with pytest.raises(errors.InvalidArgument, match="both"):
        optuna.create_study(direction="minimize", directions=["minimize"])
    with pytest.raises(AttributeError, match="no visualization: `trainwarden study show`"):
        optuna.visualization  # noqa: B018
    with pytest.raises(errors.InvalidArgument, match="keeps no attributes"):
        optuna.create_study().set_user_attr("a", 1)


def test_all_names_of_pruners_are_known_to_the_program() -> None:
    pruners = optuna.pruners
    for i, pruner in enumerate(
        [pruners.NopPruner(), pruners.MedianPruner(), pruners.PercentilePruner(25.0), pruners.SuccessiveHalvingPruner(),
         pruners.HyperbandPruner(max_resource=9), pruners.ThresholdPruner(upper=1.0),
         pruners.PatientPruner(pruners.MedianPruner(), patience=3), pruners.WilcoxonPruner()]
    ):  # fmt: skip
        assert optuna.create_study(study_name=f"p{i}", pruner=pruner).spec["pruner"] == pruner.text


def test_a_notebook_shows_it() -> None:
    study = optuna.create_study(study_name="shown")
    assert "no trial is complete" in study._repr_html_()
    study.enqueue_trial({"x": 1.0})
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) + len(trial.suggest_categorical("t", ["<b>"])), n_trials=3)
    shown = study._repr_html_()
    assert shown.count("<circle") == 3 and "prefers-color-scheme: dark" in shown
    assert "&lt;b&gt;" in shown and "<b>&" not in shown.replace("<b>shown</b>", "") and "<script" not in shown


def test_a_frame_has_optunas_columns() -> None:
    pytest.importorskip("pandas")
    study = optuna.create_study(study_name="frame")
    study.optimize(objectives.quadratic, n_trials=2)
    frame = study.trials_dataframe()
    assert frame["state"].tolist() == ["COMPLETE"] * 2 and frame["value"].tolist() == [t.value for t in study.trials]
    assert list(study.trials_dataframe(attrs=("number", "params")).columns) == ["number", "params_x"]


class _Fixed:
    """A trial of given values."""

    def __init__(self, params: dict[str, Any]):
        self._params = params

    def suggest_float(self, name: str, low: float, high: float) -> float:
        return float(self._params[name])
