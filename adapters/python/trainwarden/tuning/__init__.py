"""Studies of hyper-parameters: what is tried next, what came of it, and whether the target was met.

    from trainwarden import tuning

    study = tuning.create_study(
        name="digits",
        parameters={"learning_rate": {"min": 1e-5, "max": 1e-1, "log": True}, "layers": {"min": 2, "max": 6}},
        metrics={"accuracy": {"goal": "maximize", "threshold": 0.95}},
        budget={"trials": 40},
    )

    def objective(trial):
        return train(trial.params["learning_rate"], trial.params["layers"])

    study.optimize(objective)
    print(study.outcome.sentence, study.best)

Objectives written for Optuna run after changing the import; their studies are open: they have what trials ask for.

    import trainwarden.tuning as optuna

    study = optuna.create_study(direction="maximize")
    study.optimize(objective, n_trials=100)

The keys are those of docs/reference/tune.md. All is decided by the program `trainwarden`, as on the command line, and
kept in the study's folder: many processes may ask at once, and whoever opens a study again goes on with it.
"""

from __future__ import annotations

from . import exceptions, logging, pruners, samplers, study, trial
from .creating import create_study, load_study
from .declaring import declare
from .importance import ForestImportance, Importance, PairImportance, ParameterImportance
from .records import Outcome, TrialRecord
from .study import Study
from .trial import StudyEnded, Trial, TrialPruned
from .trial_states import TrialState

__all__ = [
    "ForestImportance",
    "Importance",
    "Outcome",
    "PairImportance",
    "ParameterImportance",
    "Study",
    "StudyEnded",
    "Trial",
    "TrialPruned",
    "TrialRecord",
    "TrialState",
    "create_study",
    "declare",
    "exceptions",
    "load_study",
    "logging",
    "pruners",
    "samplers",
    "study",
    "trial",
]

# Of Optuna, and what there is in their place.
_ELSEWHERE = {
    "delete_study": "remove the study's folder",
    "copy_study": "copy the study's folder",
    "storages": "studies lie in a folder, `trainwarden study import` reads Optuna's",
    "visualization": "`trainwarden study show` and the page show a study",
    "importance": "Study.importance() says what mattered",
    "distributions": "trial.suggest_float() and its like say ranges",
    "integration": "trainwarden.lightning and trainwarden.transformers",
    "terminator": "`budget` says when a study ends",
    "artifacts": "runs keep what trainings save",
}


def __getattr__(name: str) -> object:
    instead = f": {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
    raise AttributeError(f"trainwarden.tuning has no {name}{instead}")
