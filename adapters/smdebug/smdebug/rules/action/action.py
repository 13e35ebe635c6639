"""Actions: those that a rule's action string asks for."""

from __future__ import annotations

import json
from typing import Any, Union

import trainwarden

from ...core.logger import get_logger
from ...exceptions import SMDebugValueError
from .message_action import MessageAction
from .stop_training_action import StopTrainingAction

ALLOWED_ACTIONS = ["stoptraining", "sms", "email"]

Action = Union[StopTrainingAction, MessageAction]


class Actions:
    """Of a JSON object, or a list of them:

        {"name": "stoptraining", "training_job_prefix": "mnist-"}
        {"name": "email", "endpoint": "me@example.com"}, {"name": "sms", "endpoint": "+15550100"}

    What it does not know is said on the log and left out. Names of actions in any case; the rest as it is written.

    Raises:
        SMDebugValueError: the string is no JSON.
    """

    def __init__(self, actions_str: str | None, rule_name: str, run: trainwarden.Trial | None = None):
        self._rule_name = rule_name
        self._run = run
        found = [self._action_of(entry) for entry in _entries(actions_str)]
        self._actions = [action for action in found if action is not None]

    def invoke(self, message: str = "", step: int | None = None) -> None:
        """Runs each. `step`: the global step at which the rule fired."""
        for action in self._actions:
            action.invoke(message, step)

    def end(self) -> None:
        """Does what could not be done while an engine judged with the rule."""
        for action in self._actions:
            if isinstance(action, MessageAction):
                action.deliver()

    def _action_of(self, entry: Any) -> Action | None:
        fields = {str(key).lower(): value for key, value in entry.items()} if isinstance(entry, dict) else {}
        name = str(fields.get("name", "")).lower()
        if name == "stoptraining" and fields.get("training_job_prefix") is not None:
            return StopTrainingAction(self._rule_name, str(fields["training_job_prefix"]), self._run)
        if name in ("sms", "email") and fields.get("endpoint") is not None:
            return MessageAction(self._rule_name, name, str(fields["endpoint"]), self._run)
        get_logger().warning(
            "rule %s: left out the action %s; expected a name of %s, with training_job_prefix or endpoint",
            self._rule_name,
            entry,
            ", ".join(ALLOWED_ACTIONS),
        )
        return None


def _entries(text: str | None) -> list[Any]:
    if text is None or not text.strip():
        return []
    try:
        document = json.loads(text)
    except ValueError as error:
        raise SMDebugValueError(f"expected JSON as the action string, found {text!r}: {error}") from error
    return document if isinstance(document, list) else [document]
