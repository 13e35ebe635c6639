"""MessageAction: an e-mail or a text message that a rule asks for."""

from __future__ import annotations

from ...core.logger import get_logger


class MessageAction:
    """Says on the log that the message is not sent: sending is what the actions of Trainwarden do.

    Attributes:
        protocol: "email" or "sms".
        endpoint: the address or the number.
    """

    def __init__(self, rule_name: str, message_type: str, message_endpoint: str):
        self.rule_name = rule_name
        self.protocol = message_type
        self.endpoint = message_endpoint

    def invoke(self, message: str = "") -> None:
        get_logger().warning(
            "rule %s fired %s; the %s to %s is not sent: it needs the actions of trainwarden (trainwarden watch)",
            self.rule_name,
            message,
            self.protocol,
            self.endpoint,
        )
