"""Action: SageMaker's word for something that was done. Here it is a component."""

from __future__ import annotations

from typing import Any, NoReturn

from ..exceptions import NotHere

__all__ = ["Action"]


class Action:
    """Cannot be made: the error says what to use."""

    @classmethod
    def create(cls, *_: Any, **__: Any) -> NoReturn:
        raise NotHere("Action: what was done is a component here: smexperiments.tracker.Tracker")

    load = list = create
