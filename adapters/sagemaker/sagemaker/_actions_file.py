"""The actions of rules, as a file of actions (docs/reference/actions.md)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

# What the process that delivers may not find in its environment: it was started by somebody else, or earlier.
_MAIL = {
    "host": "TRAINWARDEN_SMTP_HOST",
    "from": "TRAINWARDEN_SMTP_FROM",
    "port": "TRAINWARDEN_SMTP_PORT",
    "security": "TRAINWARDEN_SMTP_SECURITY",
    "user": "TRAINWARDEN_SMTP_USER",
}
_SMS = {
    name: f"TRAINWARDEN_SMS_{name.upper()}"
    for name in ("from", "body", "encoding", "parts", "user", "token_scheme", "allow_http")
}


def text(rules: Mapping[str, Mapping[str, Any]]) -> str:
    """Of the rules by their ids; empty when none of them starts anything.

    Raises:
        ValueError: an action that is not known, or a message that nothing is there to send with.
    """
    sections = []
    for rule, configuration in rules.items():
        for action in json.loads(configuration["RuleParameters"].get("action_json") or "[]"):
            fields = {"rule": rule, **_fields(action)}
            sections.append("[[on]]\n" + "".join(f"{key} = {value_text(value)}\n" for key, value in fields.items()))
    return "\n".join(sections)


def value_text(value: Any) -> str:
    """As TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {value_text(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _fields(action: Mapping[str, Any]) -> dict[str, Any]:
    kind = str(action.get("name", "")).lower()
    if kind == "stoptraining":
        return {"do": "stop", "then": "kill"}
    if kind == "email":
        return {"do": "mail", "to": action["endpoint"], "cool_down": "1h", **_mail_server()}
    if kind == "sms":
        return {"do": "sms", "to": action["endpoint"], "cool_down": "1h", **_gateway()}
    raise ValueError(f"action_json: expected stoptraining, email or sms, found {action!r}")


def _mail_server() -> dict[str, Any]:
    if not os.environ.get("TRAINWARDEN_SMTP_HOST"):
        raise ValueError("Email: set TRAINWARDEN_SMTP_HOST to your mail server (docs/guide/mail.md says how)")
    server = _from_environment(_MAIL)
    if file := os.environ.get("TRAINWARDEN_SMTP_PASSWORD_FILE"):
        server["password"] = {"file": os.path.abspath(file)}
    elif os.environ.get("TRAINWARDEN_SMTP_PASSWORD"):
        server["password"] = {"env": "TRAINWARDEN_SMTP_PASSWORD"}
    if "port" in server:
        server["port"] = int(server["port"])
    return server


def _gateway() -> dict[str, Any]:
    if not os.environ.get("TRAINWARDEN_SMS_URL"):
        raise ValueError("SMS: set TRAINWARDEN_SMS_URL to your provider's gateway (docs/guide/sms.md says how)")
    gateway = _from_environment(_SMS)
    if "parts" in gateway:
        gateway["parts"] = int(gateway["parts"])
    if "allow_http" in gateway:
        gateway["allow_http"] = gateway["allow_http"].lower() in ("1", "true", "yes", "on")
    for secret in ("url", "password", "token"):
        name = f"TRAINWARDEN_SMS_{secret.upper()}"
        if os.environ.get(name):
            gateway[secret] = {"env": name}
    return gateway


def _from_environment(names: Mapping[str, str]) -> dict[str, Any]:
    found = {key: os.environ.get(name) for key, name in names.items()}
    return {key: value for key, value in found.items() if value}
