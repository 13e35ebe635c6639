"""MessageAction: an e-mail or a text message that a rule asks for."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import subprocess
import sys

import trainwarden

from ...core.logger import get_logger
from .firing import write_down

# For mail servers that are slow. What is not sent by then stays in the run, and is sent by whoever delivers next.
_LONGEST = "60s"
# Of the same rule to the same address. On SageMaker a rule ended with its first hit.
_COOL_DOWN = "1h"


class MessageAction:
    """An e-mail is sent by the program trainwarden (its action `mail`), through the mail server that
    TRAINWARDEN_SMTP_HOST and its like name; a text message by its action `sms`, through the gateway that
    TRAINWARDEN_SMS_URL and its like name. Verdicts of a rule within an hour of one that was sent are left out.

    Attributes:
        protocol: "email" or "sms".
        endpoint: the address or the number, as it was written.
    """

    def __init__(
        self, rule_name: str, message_type: str, message_endpoint: str, run: trainwarden.Trial | None = None
    ):
        self.rule_name = rule_name
        self.protocol = message_type
        self.endpoint = message_endpoint
        self._run = run
        self._waits = False
        self._comes_back = False  # at the end of the program

    def invoke(self, message: str = "", step: int | None = None) -> None:
        """Waits up to a minute for the mail server or gateway. What cannot be sent is said on the log."""
        words = f"rule {self.rule_name} fired {message}".rstrip()
        reason = self._why_not()
        if reason:
            get_logger().warning("%s; the %s to %s is not sent: %s", words, self.protocol, self.endpoint, reason)
            return
        assert self._run is not None
        write_down(self._run, self.rule_name, step, words)
        self._waits = True
        self.deliver()
        if self._waits and not self._comes_back:
            self._comes_back = True
            atexit.register(self.deliver)

    def deliver(self) -> None:
        """Sends what waits, also beside an engine that keeps the run's ledger. What could not be sent is tried again when
        judging has ended, and when the program does."""
        if not self._waits or self._run is None:
            return
        program = _program()
        assert program is not None
        done = subprocess.run(
            [program, "events", "deliver", str(self._run.path), "--on-fire", self._wire(), "--for", _LONGEST, "--once"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
        self._waits = done.returncode != 0
        if self._waits:
            said = (done.stderr.strip() or done.stdout.strip())[-1000:]
            get_logger().warning(
                "the %s to %s about rule %s waits: %s", self.protocol, self.endpoint, self.rule_name, said
            )
        else:
            get_logger().info("the %s to %s about rule %s is sent", self.protocol, self.endpoint, self.rule_name)

    def _why_not(self) -> str:
        if self.protocol == "sms" and not os.environ.get("TRAINWARDEN_SMS_URL"):
            return "set TRAINWARDEN_SMS_URL to your provider's gateway (docs/guide/sms.md says how), or use email"
        if self._run is None:
            return "it is not known of which run"
        if self._run.recorder != "trainwarden":
            return f"{self._run.path} was written by smdebug, and nothing may be written into it"
        if _program() is None:
            return "the program trainwarden is neither beside this Python nor in PATH"
        return ""

    def _wire(self) -> str:
        """For --on-fire. Each address has a subscription of its own."""
        name = hashlib.sha256(self.endpoint.encode()).hexdigest()[:8]
        parameters = {
            **(_gateway() if self.protocol == "sms" else {}),
            "to": self.endpoint,
            "rule": self.rule_name,
            "name": f"smdebug-{self.rule_name}-{name}",
            "cool_down": _COOL_DOWN,
        }
        action = "sms:" if self.protocol == "sms" else "mail:"
        return action + ",".join(f"{key}={_quoted(value)}" for key, value in parameters.items())


def _gateway() -> dict[str, str]:
    """The parameters of the action `sms` that the environment has. Secrets are named and not copied."""
    named = {name: f"env:TRAINWARDEN_SMS_{name.upper()}" for name in ("url", "password", "token")}
    copied = ("from", "body", "encoding", "parts", "user", "token_scheme", "allow_http")
    written = {name: os.environ.get(f"TRAINWARDEN_SMS_{name.upper()}", "") for name in copied}
    given = {name: place for name, place in named.items() if os.environ.get(place.removeprefix("env:"))}
    return {**given, **{name: text for name, text in written.items() if text}}


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'


def _program() -> str | None:
    beside = os.path.join(os.path.dirname(sys.executable), "trainwarden")
    return beside if os.access(beside, os.X_OK) else shutil.which("trainwarden")
