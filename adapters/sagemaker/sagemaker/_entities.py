"""Experiments, trials and components as the program `trainwarden experiment` keeps them, for smexperiments and analytics."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from . import _program
from ._description import moment
from ._program import ProgramError
from .exceptions import ClientError, NotHere

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def experiments_folder(client: Any = None) -> Path:
    """Of a client the folder that it works in; without one that of TRAINWARDEN_EXPERIMENTS, else ./experiments.

    Raises:
        NotHere: a client of boto3 that asks another machine.
    """
    if isinstance(folder := getattr(client, "experiments", None), Path):
        return folder
    endpoint = getattr(getattr(client, "meta", None), "endpoint_url", None)
    if client is not None and urlsplit(str(endpoint)).hostname not in _LOOPBACK:
        raise NotHere(
            "expected the client of sagemaker.Session(), or one of boto3 whose endpoint is `trainwarden serve`, "
            f"found {client!r}; experiments are kept on this machine"
        )
    return Path(os.environ.get("TRAINWARDEN_EXPERIMENTS") or "experiments").absolute()


class Entities:
    """The folder of experiments. Each call asks the program."""

    def __init__(self, client: Any = None):
        self.client = client
        self.folder = experiments_folder(client)

    def ask(self, operation: str, *words: str) -> Any:
        """What `trainwarden experiment WORDS --json` answers.

        Raises:
            ClientError: ResourceNotFound, or ValidationException with what is wrong.
        """
        return self._run(operation, _program.ask, "experiment", *words)

    def lineage(self, operation: str, *words: str) -> Any:
        """What `trainwarden lineage WORDS --json` answers; the same errors."""
        return self._run(operation, _program.ask, "lineage", *words)

    def tell(self, operation: str, *words: str) -> None:
        """The same of a command that only writes."""
        self._run(operation, _program.call, "experiment", *words)

    def _run(self, operation: str, run: Any, *words: str) -> Any:
        try:
            return run(*_program.with_options(words, "--experiments", str(self.folder)))
        except ProgramError as error:
            missing = error.message.startswith(("there is no", "nothing is known"))
            raise ClientError(
                "ResourceNotFound" if missing else "ValidationException", error.message, operation
            ) from error


def entity_arn(kind: str, name: str) -> str:
    """`kind` is "experiment", "experiment-trial" or "experiment-trial-component"."""
    return f"arn:aws:sagemaker:local:000000000000:{kind}/{name}"


def component_shape(row: dict[str, Any]) -> dict[str, Any]:
    """A component, as the program shows it, in the shape of SageMaker's API."""
    shape: dict[str, Any] = {
        "TrialComponentName": row["name"],
        "TrialComponentArn": entity_arn("experiment-trial-component", row["name"]),
        "DisplayName": row["display_name"],
        "RunName": row["run_name"],
        "Source": row["source"] and {"SourceArn": row["source"]},
        "Status": {"PrimaryStatus": row["status"], "Message": row["message"]},
        "Parameters": {name: _parameter(value) for name, value in row["parameters"].items()},
        "InputArtifacts": {name: _artifact(use) for name, use in row["inputs"].items()},
        "OutputArtifacts": {name: _artifact(use) for name, use in row["outputs"].items()},
        "Metrics": [_metric(name, summary) for name, summary in row["metrics"].items()],
        "Parents": [{"TrialName": trial} for trial in row["trials"]],
    }
    times = {"CreationTime": "created", "LastModifiedTime": "changed", "StartTime": "start", "EndTime": "end"}
    shape.update({field: row[ours] and moment(row[ours]) for field, ours in times.items()})
    return {field: value for field, value in shape.items() if value is not None}


def _parameter(value: Any) -> dict[str, Any]:
    return {"StringValue" if isinstance(value, str) else "NumberValue": value}


def _artifact(use: dict[str, Any]) -> dict[str, Any]:
    media = {"MediaType": use["media_type"]} if use["media_type"] else {}
    return {"Value": use["uri"], **media}


def _metric(name: str, summary: dict[str, Any]) -> dict[str, Any]:
    fields = {"Max": "max", "Min": "min", "Last": "last", "Avg": "avg", "StdDev": "stddev"}
    numbers = {field: float(summary[ours]) for field, ours in fields.items() if summary[ours] is not None}
    return {"MetricName": name, **numbers, "Count": summary["count"], "TimeStamp": moment(summary["time"])}
