"""The hook for XGBoost: a program as it was recorded with smdebug, and what the hook promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trainwarden
from smdebug.core.modes import ModeKeys
from smdebug.trials import create_trial

xgb = pytest.importorskip("xgboost")

from smdebug.xgboost import Hook, SaveConfig, del_hook, get_hook  # noqa: E402

ALL = ["metrics", "losses", "hyperparameters", "predictions", "labels", "feature_importance", "average_shap",
       "full_shap", "trees"]  # fmt: skip
PARAMS = {"objective": "binary:logistic", "eval_metric": ["auc", "logloss"], "max_depth": 3, "nthread": 1}


def matrix() -> Any:
    random = np.random.default_rng(1)
    features = random.random((200, 4))
    return xgb.DMatrix(features, (features[:, 0] > 0.5).astype(int))


@pytest.fixture(autouse=True)
def nobody_stays() -> Any:
    yield
    del_hook()


def test_a_program_as_it_was_recorded(shared_data: Path, shared_trials: Path, tmp_path: Path) -> None:
    program = shared_data / "smdebug_programs" / "xgboost_binary.py"
    if not program.exists():
        pytest.skip(f"no program {program}")
    subprocess.run([sys.executable, str(program), str(tmp_path / "run")], check=True, timeout=120)
    expected = json.loads((shared_trials / "xgboost_binary.expected.json").read_text())
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == expected["steps"]
    assert {mode.name: trial.steps(mode=mode) for mode in ModeKeys} == expected["modes"]
    assert trial.workers() == expected["workers"]
    # Which features split a tree depends on the version of XGBoost: it begins with another score since 2.0.
    importance = "feature_importance/"
    assert {name for name in trial.tensor_names() if not name.startswith(importance)} == {
        name for name in expected["tensors"] if not name.startswith(importance)
    }
    for name, recorded in expected["tensors"].items():
        if not name.startswith(importance):
            assert [str(step) for step in trial.tensor(name).steps()] == list(recorded), name
            assert np.asarray(trial.tensor(name).value(0)).dtype.kind == np.dtype(recorded["0"]["dtype"]).kind, name
    for name in ("labels", "hyperparameters/eta", "hyperparameters/max_depth", "hyperparameters/seed"):
        value = np.asarray(trial.tensor(name).value(4))
        assert list(value.shape) == expected["tensors"][name]["4"]["shape"]
        assert float(value.mean()) == pytest.approx(expected["tensors"][name]["4"]["mean"])
    collections = {name: sorted(trial.tensor_names(collection=name)) for name in ("losses", "metrics", "full_shap")}
    assert collections == {name: expected["collections"][name] for name in collections}


def test_values_are_those_of_the_booster(tmp_path: Path) -> None:
    data, said = matrix(), {}
    hook = Hook(tmp_path / "run", save_config=SaveConfig(save_interval=3), include_collections=ALL, train_data=data)
    booster = xgb.train(
        PARAMS, data, num_boost_round=7, evals=[(data, "train")], evals_result=said, verbose_eval=False, callbacks=[hook]
    )
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == [0, 3, 6]
    for metric in ("auc", "logloss"):
        assert [trial.tensor(f"train-{metric}").value(step) for step in trial.steps()] == said["train"][metric][::3]
    np.testing.assert_array_equal(trial.tensor("predictions").value(6), booster.predict(data))
    shares = booster.predict(data, pred_contribs=True)
    np.testing.assert_array_equal(trial.tensor("full_shap/f0").value(6), shares)
    assert trial.tensor("average_shap/f0").value(6) == pytest.approx(shares[:, 0].mean(), rel=1e-6)
    assert sum(float(trial.tensor(name).value(6)) for name in trial.tensor_names(regex="importance/gain")) == pytest.approx(1)
    assert "trees/Node" in trial.tensor_names(collection="trees")


def test_by_default_metrics_of_each_tenth_round(tmp_path: Path) -> None:
    data = matrix()
    hook = Hook(tmp_path / "run", hyperparameters=PARAMS, train_data=data)
    xgb.train(PARAMS, data, num_boost_round=12, evals=[(data, "train")], verbose_eval=False, callbacks=[hook])
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == [0, 10]
    assert sorted(trial.tensor_names()) == ["train-auc", "train-logloss"]


def test_a_request_ends_the_training(tmp_path: Path) -> None:
    data, run = matrix(), tmp_path / "run"

    class Stop(xgb.callback.TrainingCallback):  # type: ignore[misc, name-defined]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            if epoch == 2:
                trainwarden.stop(run, wait=False)
            return False

    booster = xgb.train(PARAMS, data, num_boost_round=5000, callbacks=[Hook(run, save_all=True), Stop()])
    assert booster.num_boosted_rounds() < 5000
    assert trainwarden.open(run).state.value == "stopped"


def test_under_run_the_hook_of_the_program_captures(tmp_path: Path) -> None:
    program = (
        "import numpy as np, xgboost as xgb\n"
        "from smdebug.xgboost import Hook, SaveConfig\n"
        "data = xgb.DMatrix(np.random.default_rng(1).random((50, 3)), np.arange(50))\n"
        "hook = Hook('elsewhere', save_config=SaveConfig(save_interval=2))\n"
        "xgb.train({'nthread': 1}, data, 5, evals=[(data, 'train')], verbose_eval=False, callbacks=[hook])\n"
    )
    environment = {**os.environ, "TRAINWARDEN_ATTACH": "1", "TRAINWARDEN_RUN_DIR": str(tmp_path / "run")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == [0, 2, 4] and trial.tensor_names() == ["train-rmse"]


def test_the_hook_of_a_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_hook() is None
    file = tmp_path / "config.json"
    file.write_text(
        json.dumps(
            {"LocalPath": str(tmp_path / "run"), "HookParameters": {"save_interval": "2"},
             "CollectionConfigurations": [{"CollectionName": "trees"}]}
        )  # fmt: skip
    )
    hook = get_hook(str(file), create_if_not_exists=True)
    assert isinstance(hook, Hook) and get_hook() is hook
    xgb.train(PARAMS, matrix(), num_boost_round=3, callbacks=[hook])
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == [0, 2] and "trees/Feature" in trial.tensor_names()


def test_a_fault_of_ours_is_not_the_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Broken:
        def get_label(self) -> Any:
            raise ValueError("broken")

    data = matrix()
    hook = Hook(tmp_path / "run", save_all=True, validation_data=Broken(), save_config=SaveConfig(save_interval=1))
    booster = xgb.train(PARAMS, data, num_boost_round=3, callbacks=[hook])
    assert booster.num_boosted_rounds() == 3
    assert "could not save a round of XGBoost" in capsys.readouterr().err
