"""What a rule starts when it finds something."""

from __future__ import annotations

import json
from typing import Any

from .._keywords import Keyword, Keywords, takes
from ..exceptions import NotHere

STOP_TRAINING = Keywords(
    "StopTraining",
    [
        Keyword("training_job_prefix", "a rule stops its own training; leave it out", refused=True),
        Keyword("use_default_training_job_prefix", "a rule stops its own training", default=True, only=(True,)),
    ],
)
EMAIL = Keywords(
    "Email",
    [Keyword("email_address", "who gets a mail, through the mail server that TRAINWARDEN_SMTP_HOST names")],
)
SMS_KEYWORDS = Keywords(
    "SMS",
    [Keyword("phone_number", "who gets a text message, through the gateway that TRAINWARDEN_SMS_URL names")],
)


class Action:
    """One of them.

    Attributes:
        parameters: as SageMaker's API has it, in the rule's parameter `action_json`.
    """

    parameters: dict[str, str]


@takes(STOP_TRAINING)
class StopTraining(Action):
    """The training is asked to stop at the end of its step; without an answer SIGTERM follows, and SIGKILL later."""

    def __init__(self, *positional: Any, **given: Any):
        STOP_TRAINING.take(positional, given)
        self.parameters = {"name": "stoptraining"}


@takes(EMAIL)
class Email(Action):
    """A mail."""

    def __init__(self, *positional: Any, **given: Any):
        address = EMAIL.take(positional, given)["email_address"]
        if not isinstance(address, str) or "@" not in address or not address.isprintable():
            raise ValueError(f"Email: expected an address, me@example.com, found {address!r}")
        self.parameters = {"name": "email", "endpoint": address}


@takes(SMS_KEYWORDS)
class SMS(Action):
    """A text message."""

    def __init__(self, *positional: Any, **given: Any):
        number = SMS_KEYWORDS.take(positional, given)["phone_number"]
        digits = number[1:] if isinstance(number, str) and number.startswith("+") else ""
        if not digits.isascii() or not digits.isdigit() or len(digits) > 15:
            raise ValueError(f"SMS: expected a number as +15550100, found {number!r}")
        self.parameters = {"name": "sms", "endpoint": number}


class ActionList:
    """Several of them."""

    def __init__(self, *actions: Any):
        for action in actions:
            if not isinstance(action, Action):
                raise NotHere(
                    f"ActionList: expected StopTraining(), Email() and SMS(), found {action!r}; "
                    "for other actions, subscribe to the run's events (docs/reference/actions.md)"
                )
        self.actions: list[Action] = list(actions)

    def serialize(self) -> str:
        """As the parameter `action_json` of a rule; a text that is empty when there are none."""
        return json.dumps([action.parameters for action in self.actions]) if self.actions else ""
