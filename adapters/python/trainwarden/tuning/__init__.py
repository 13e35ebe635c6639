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

The keys are those of docs/reference/tune.md. All is decided by the program `trainwarden`, as on the command line, and
kept in the study's folder: many processes may ask at once, and whoever opens a study again goes on with it.
"""

from __future__ import annotations

from .declaring import declare
from .importance import ForestImportance, Importance, PairImportance, ParameterImportance
from .records import Outcome, TrialRecord
from .study import Study, create_study
from .trial import StudyEnded, Trial, TrialPruned

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
    "create_study",
    "declare",
]
