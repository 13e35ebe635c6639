"""Makes study.db, a storage of Optuna in SQLite, and study.log, its journal: two studies each.

usage: make.py FOLDER        with Optuna 5.0 installed

"two goals" has a logarithmic number, steps, choices with None, whole numbers, and a trial that waits. "curves" has steps
with NaN and an infinity, a pruned trial, a failed one, one that runs, a range that changes, and a parameter that only
some trials ask for.
"""

import pathlib
import sys

import optuna
from optuna.storages.journal import JournalFileBackend


def two_goals(trial):
    rate = trial.suggest_float("rate", 0.001, 1, log=True)
    kind = trial.suggest_categorical("kind", ["a", None, 1, 2.5, True])
    layers = trial.suggest_int("layers", 1, 9, step=2)
    drop = trial.suggest_float("drop", 0, 1, step=0.25)
    trial.set_user_attr("notes", [1, "two", str(kind)])
    return rate + drop, layers


def curves(trial):
    x = trial.suggest_float("x", 0, 1 if trial.number < 3 else 2)
    if trial.number % 2:
        trial.suggest_int("odd", 1, 5)
    trial.report(x, 0)
    if trial.number == 1:
        trial.report(float("nan"), 1)
        trial.report(float("inf"), 2)
        raise optuna.TrialPruned
    if trial.number == 2:
        raise ValueError("bad")
    return x


def fill(storage):
    sampler = optuna.samplers.RandomSampler(seed=1)
    first = optuna.create_study(
        storage=storage, study_name="two goals", directions=["minimize", "maximize"], sampler=sampler
    )
    first.set_metric_names(["loss", "accuracy"])
    first.optimize(two_goals, n_trials=4)
    first.enqueue_trial({"rate": 0.5})
    second = optuna.create_study(storage=storage, study_name="curves", sampler=sampler)
    second.optimize(curves, n_trials=6, catch=(ValueError,))
    second.ask().suggest_float("x", 0, 2)


def main():
    folder = pathlib.Path(sys.argv[1])
    for name in ("study.db", "study.log"):
        (folder / name).unlink(missing_ok=True)
    fill(f"sqlite:///{folder / 'study.db'}")
    fill(optuna.storages.JournalStorage(JournalFileBackend(str(folder / "study.log"))))


if __name__ == "__main__":
    main()
