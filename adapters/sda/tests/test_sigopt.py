"""SigOpt's client: experiments are studies, and what it refuses has a reason."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import sigopt
from sigopt import ApiException, Connection

RATE = {"name": "rate", "type": "double", "bounds": {"min": 1e-4, "max": 1.0}, "transformation": "log"}
KIND = {"name": "kind", "type": "categorical", "categorical_values": ["sgd", {"name": "adam", "enum_index": 2}]}
F1 = {"name": "f1", "objective": "maximize", "threshold": 0.9}


def create(**more: Any) -> Any:
    whole = {"name": "digits / first!", "parameters": [RATE, KIND], "metrics": [F1], "observation_budget": 3, **more}
    return Connection("token").experiments().create(**whole)


def test_the_loop_of_its_readme_runs(folder: Path) -> None:
    conn = Connection(client_token="token")
    experiment = create()
    assert experiment.name == "digits / first!" and experiment.id.startswith("digits-first-")
    assert (folder / "studies" / experiment.id / "study.json").is_file()
    while experiment.progress.observation_count < experiment.observation_budget:
        suggestion = conn.experiments(experiment.id).suggestions().create()
        assert suggestion.state == "open" and set(suggestion.assignments) == {"rate", "kind"}
        value = suggestion.assignments["rate"]
        observation = conn.experiments(experiment.id).observations().create(suggestion=suggestion.id, value=value)
        assert observation.value == observation.values[0].value == value and not observation.failed
        experiment = conn.experiments(experiment.id).fetch()
    observed = conn.experiments(experiment.id).observations().fetch()
    best = conn.experiments(experiment.id).best_assignments().fetch().data[0]
    assert best.value == max(each.value for each in observed.iterate_pages()) and observed.count == 3
    assert best.assignments["rate"] == best.value
    assert experiment.target_met is (best.value >= 0.9) and "f1 at least 0.9" in experiment.sentence
    assert experiment.progress.last_observation.id == "2" and experiment.state == "active"
    assert [each.id for each in conn.experiments().fetch().data] == [experiment.id]


def test_failures_values_and_ones_own_assignments() -> None:
    experiment = create(metrics=[F1, {"name": "time", "objective": "minimize", "strategy": "store"}])
    one = Connection().experiments(experiment.id)
    suggestion = one.suggestions().create()
    assert one.observations().create(suggestion=suggestion, failed=True).failed
    with pytest.raises(ApiException, match="ended already"):
        one.observations().create(suggestion=suggestion.id, value=1)
    values = [{"name": "f1", "value": 0.5}, {"name": "time", "value": 3}]
    own = one.observations().create(assignments={"rate": 0.5, "kind": "adam"}, values=values)
    assert own.assignments == {"rate": 0.5, "kind": "adam"} and own.to_json()["values"][1]["value"] == 3
    assert one.suggestions().create(assignments={"rate": 0.1, "kind": "sgd"}).state == "open"
    again = one.suggestions().create()
    assert again.assignments == {"rate": 0.1, "kind": "sgd"}
    assert one.observations().create(suggestion=again.id, value=math.nan).failed
    assert one.best_assignments().fetch().data[0].assignments["rate"] == 0.5
    assert one.suggestions("0").fetch().state == "closed" and one.observations("1").fetch().id == "1"


def test_two_metrics_have_a_front() -> None:
    experiment = create(metrics=[{"name": "a", "objective": "minimize"}, {"name": "b", "objective": "minimize"}])
    one = Connection().experiments(experiment.id)
    for a, b in ((1, 2), (2, 1), (3, 3)):
        values = [{"name": "a", "value": a}, {"name": "b", "value": b}]
        one.observations().create(suggestion=one.suggestions().create().id, values=values)
    assert sorted(each.id for each in one.best_assignments().fetch().data) == ["0", "1"]
    with pytest.raises(ApiException, match="expected values of a, b"):
        one.observations().create(suggestion=one.suggestions().create().id, value=1)


def test_conditionals_and_constraints_hold() -> None:
    experiment = create(
        parameters=[
            {"name": "a", "type": "int", "bounds": {"min": 0, "max": 10}},
            {"name": "b", "type": "int", "bounds": {"min": 0, "max": 10}},
            {"name": "momentum", "type": "double", "bounds": {"min": 0, "max": 0.9}, "conditions": {"how": ["sgd"]}},
        ],
        conditionals=[{"name": "how", "values": ["sgd", "adam"]}],
        linear_constraints=[{"type": "greater_than", "threshold": 15,
                             "terms": [{"name": "a", "weight": 1}, {"name": "b", "weight": 1}]}],
    )  # fmt: skip
    one = Connection().experiments(experiment.id)
    seen = [one.suggestions().create().assignments for _ in range(8)]
    assert all(each["a"] + each["b"] >= 15 for each in seen)
    assert all(("momentum" in each) == (each["how"] == "sgd") for each in seen)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"parameters": [{**RATE, "bonds": 1}]}, 'unknown key "bonds"; did you mean "bounds"'),
        ({"parameters": [{"name": "a", "type": "double"}]}, "parameter a: expected a grid"),
        ({"parameters": [RATE, RATE]}, 'two parameters have the name "rate"'),
        ({"parameters": [{**RATE, "prior": {}}]}, 'unknown key "prior"'),
        ({"parameters": [{**RATE, "bounds": {"min": 2, "max": 1}}]}, "rate"),
        ({"metrics": [{"name": "f1", "strategy": "maximise"}]}, "expected a strategy of optimize"),
        ({"metrics": [{"name": "f1", "objective": "up"}]}, "minimize"),
        ({"observations_budget": 3}, 'unknown key "observations_budget"; did you mean "observation_budget"'),
        ({"type": "magic"}, "expected the type offline"),
    ],
)
def test_what_is_wrong_with_an_experiment_is_an_error(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ApiException, match=message) as caught:
        create(**more)
    assert caught.value.status == 400


def test_what_is_wrong_with_an_observation_is_an_error() -> None:
    one = Connection().experiments(create().id)
    suggestion = one.suggestions().create()
    for more, message in (
        ({"value": 1, "values": []}, "expected value or values"),
        ({}, "expected value or values"),
        ({"values": [{"name": "f2", "value": 1}]}, 'no metric "f2"'),
        ({"value": 1, "value_stddev": 0.1}, "value_stddev is not kept"),
        ({"value": 1, "assignments": {}}, "either a suggestion or assignments"),
    ):
        with pytest.raises(ApiException, match=message):
            one.observations().create(suggestion=suggestion.id, **more)
    for wrong in ("99", "-1", "x; rm", ""):
        with pytest.raises(ApiException, match="no suggestion") as caught:
            one.observations().create(suggestion=wrong, value=1)
        assert caught.value.status == 404
    assert one.observations().fetch().count == 0


@pytest.mark.parametrize("name", ["../../x", "--help", "a b", "$(touch pwned)", "", "é" * 300, "a\0b"])
def test_hostile_names_are_names(name: str, folder: Path) -> None:
    experiment = create(name=name)
    assert experiment.name == name and (folder / "studies" / experiment.id / "study.json").is_file()
    for id in ("../studies", "--help", name or "-"):
        if "\0" not in id:
            with pytest.raises(ApiException):
                Connection().experiments(id).fetch()


def test_what_is_not_here_says_so() -> None:
    with pytest.raises(ApiException, match="nothing else of SigOpt's service"):
        Connection().clients(1)
    with pytest.raises(AttributeError, match="has of SigOpt's client"):
        sigopt.create_run
    experiment = create()
    Connection().experiments(experiment.id).delete()
    assert Connection().experiments(experiment.id).fetch().state == "deleted"
    with pytest.raises(ApiException, match="the study has ended"):
        Connection().experiments(experiment.id).suggestions().create()
