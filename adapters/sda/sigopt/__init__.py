"""Programs that were written for SigOpt's client, with experiments that are studies on one's own machine.

    from sigopt import Connection

    conn = Connection(client_token="none is needed")
    experiment = conn.experiments().create(
        name="digits",
        parameters=[{"name": "rate", "type": "double", "bounds": {"min": 1e-5, "max": 0.1}, "transformation": "log"}],
        metrics=[{"name": "accuracy", "objective": "maximize", "threshold": 0.95}],
        observation_budget=40,
    )
    while experiment.progress.observation_count < experiment.observation_budget:
        suggestion = conn.experiments(experiment.id).suggestions().create()
        value = train(**suggestion.assignments)
        conn.experiments(experiment.id).observations().create(suggestion=suggestion.id, value=value)
        experiment = conn.experiments(experiment.id).fetch()

Studies are those of the program `trainwarden` (docs/guide/tune.md). Nothing is sent anywhere. What is here and what
is not: docs/guide/coming-from-sda.md.
"""

from __future__ import annotations

from typing import Any

from .connection import Connection
from .exceptions import ApiException, SigOptException

__all__ = ["ApiException", "Connection", "SigOptException"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("trainwarden-sda")
    raise AttributeError(
        f"module 'sigopt' has no attribute '{name}': Trainwarden has of SigOpt's client what makes "
        f"experiments and asks them: {', '.join(__all__)}"
    )
