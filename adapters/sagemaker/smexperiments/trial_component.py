"""TrialComponent: one execution of something, with what went in, what came out, parameters and metrics."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sagemaker._description import moment
from sagemaker._entities import Entities, entity_arn
from sagemaker.exceptions import ClientError
from trainwarden.experiments import Tracker as Record

from ._base import listed, new_name, optional_moment, tag_words

__all__ = ["TrialComponent", "TrialComponentArtifact", "TrialComponentMetricSummary", "TrialComponentStatus"]


@dataclass
class TrialComponentArtifact:
    """What went in, or came out: its address."""

    value: str
    media_type: str | None = None


@dataclass
class TrialComponentStatus:
    """InProgress, Completed, Failed, Stopping or Stopped; and why."""

    primary_status: str | None = None
    message: str | None = None


@dataclass
class TrialComponentMetricSummary:
    """The values of a metric. Without a finite one there are only `last` and `count`."""

    metric_name: str
    max: float | None
    min: float | None
    last: float
    count: int
    avg: float | None
    std_dev: float | None
    timestamp: datetime


class TrialComponent:
    """One component. Made by create() and load().

    Attributes:
        trial_component_name, trial_component_arn, display_name, run_name, creation_time, start_time, end_time, source, tags.
        parameters: a dict of numbers and texts; save() adds what was put into it.
        input_artifacts, output_artifacts: dicts of TrialComponentArtifact; the same.
        metrics: a list of TrialComponentMetricSummary.
        status: how it stands.
    """

    def __init__(self, found: dict[str, Any], entities: Entities):
        self._entities = entities
        self._take(found)

    @classmethod
    def create(
        cls,
        trial_component_name: str | None = None,
        display_name: str | None = None,
        tags: Iterable[dict[str, str]] | None = None,
        sagemaker_boto_client: Any = None,
    ) -> TrialComponent:
        """Makes one; without a name it gets one with the time in it.

        Raises:
            ClientError: there is one of this name.
        """
        entities = Entities(sagemaker_boto_client)
        name = new_name("TrialComponent") if trial_component_name is None else trial_component_name
        if _exists(entities, name):
            raise ClientError("ValidationException", f'there is a component "{name}" already', "CreateTrialComponent")
        words = [f"--display-name={display_name}"] if display_name else []
        entities.tell("CreateTrialComponent", "log", *words, *tag_words(tags), "--", name)
        return cls.load(name, sagemaker_boto_client)

    @classmethod
    def load(cls, trial_component_name: str, sagemaker_boto_client: Any = None) -> TrialComponent:
        """
        Raises:
            ClientError: there is none.
        """
        entities = Entities(sagemaker_boto_client)
        return cls(_show(entities, trial_component_name), entities)

    @classmethod
    def list(
        cls,
        source_arn: str | None = None,
        created_before: datetime | None = None,
        created_after: datetime | None = None,
        sort_by: str | None = None,
        sort_order: str | None = None,
        sagemaker_boto_client: Any = None,
        trial_name: str | None = None,
        experiment_name: str | None = None,
    ) -> Iterator[TrialComponent]:
        """Those of a source (the folder of a job), a trial or an experiment, else all, the newest first."""
        entities = Entities(sagemaker_boto_client)
        wanted = {
            "Source.SourceArn": source_arn,
            "Parents.TrialName": trial_name,
            "Parents.ExperimentName": experiment_name,
        }
        filters = [{"Name": n, "Operator": "Equals", "Value": v} for n, v in wanted.items() if v is not None]
        expression = json.dumps({"Filters": filters})
        rows = entities.ask("ListTrialComponents", "search", f"--expression={expression}")["components"]
        return listed(
            rows,
            lambda row: moment(row["created"]),
            lambda row: str(row["name"]),
            lambda row: cls(row, entities),
            created_after=created_after,
            created_before=created_before,
            sort_by=sort_by,
            sort_order=sort_order,
        )

    @classmethod
    def search(
        cls,
        search_expression: Any = None,
        sort_by: str | None = None,
        sort_order: str | None = None,
        max_results: int | None = None,
        sagemaker_boto_client: Any = None,
    ) -> Iterator[TrialComponent]:
        """Those that meet a SearchExpression.

        Raises:
            ClientError: it cannot be meant.
        """
        entities = Entities(sagemaker_boto_client)
        expression = search_expression.to_boto() if search_expression is not None else {}
        words = [f"--expression={json.dumps(expression)}"]
        words += [f"--sort-by={sort_by}"] if sort_by else []
        words += ["--ascending"] if sort_order == "Ascending" else []
        words += [f"--most={max_results}"] if max_results else []
        return iter([cls(row, entities) for row in entities.ask("Search", "search", *words)["components"]])

    def list_trials(self) -> Iterator[str]:
        """The names of its trials."""
        return iter(_show(self._entities, self.trial_component_name)["trials"])

    def save(self) -> None:
        """Says what parameters, artifacts and status it has now.

        Raises:
            ClientError: a value that cannot be.
        """
        record = Record(self.trial_component_name, folder=self._entities.folder)
        record._says_status = False  # its status is said below, and only when it has one
        record.log_parameters({name: value for name, value in self.parameters.items() if value is not None})
        for name, artifact in self.input_artifacts.items():
            record.log_input(name, artifact.value, artifact.media_type or "")
        for name, artifact in self.output_artifacts.items():
            record.log_output(name, artifact.value, artifact.media_type or "")
        record.close()
        words = [f"--status={self.status.primary_status}"] if self.status.primary_status else []
        words += [f"--message={self.status.message}"] if self.status.message else []
        words += [f"--display-name={self.display_name}"] if self.display_name else []
        if words:
            self._entities.tell("UpdateTrialComponent", "log", *words, "--", self.trial_component_name)
        self._take(_show(self._entities, self.trial_component_name))

    def delete(self, force_disassociate: bool | None = None) -> None:
        """
        Raises:
            ClientError: it belongs to a trial; with `force_disassociate` it is deleted nevertheless.
        """
        trials = [] if force_disassociate else list(self.list_trials())
        if trials:
            raise ClientError(
                "ValidationException",
                f"it belongs to {', '.join(trials)}; delete it with force_disassociate=True",
                "DeleteTrialComponent",
            )
        self._entities.tell("DeleteTrialComponent", "rm", "--kind", "component", "--", self.trial_component_name)

    def _take(self, found: dict[str, Any]) -> None:
        self.trial_component_name: str = found["name"]
        self.trial_component_arn = entity_arn("experiment-trial-component", self.trial_component_name)
        self.display_name: str | None = found["display_name"]
        self.run_name: str | None = found["run_name"]
        self.source: dict[str, str] | None = {"SourceArn": found["source"]} if found["source"] else None
        self.creation_time = moment(found["created"])
        self.start_time, self.end_time = optional_moment(found["start"]), optional_moment(found["end"])
        self.status = TrialComponentStatus(found["status"], found["message"])
        self.parameters: dict[str, Any] = dict(found["parameters"])
        self.input_artifacts = _artifacts(found["inputs"])
        self.output_artifacts = _artifacts(found["outputs"])
        self.metrics = [_metric(name, summary) for name, summary in found["metrics"].items()]
        self.tags = [{"Key": key, "Value": value} for key, value in found["tags"].items()]

    def __repr__(self) -> str:
        return f"<trial component {self.trial_component_name}>"


def _show(entities: Entities, name: str) -> dict[str, Any]:
    shown: dict[str, Any] = entities.ask("DescribeTrialComponent", "show", "--kind", "component", "--", name)
    return shown


def _exists(entities: Entities, name: str) -> bool:
    try:
        _show(entities, name)
    except ClientError as error:
        if error.response["Error"]["Code"] == "ResourceNotFound":
            return False
        raise
    return True


def _artifacts(found: dict[str, Any]) -> dict[str, TrialComponentArtifact]:
    return {name: TrialComponentArtifact(use["uri"], use["media_type"]) for name, use in found.items()}


def _metric(name: str, summary: dict[str, Any]) -> TrialComponentMetricSummary:
    def number(value: Any) -> float | None:
        return None if value is None else float(value)

    return TrialComponentMetricSummary(
        metric_name=name,
        max=number(summary["max"]),
        min=number(summary["min"]),
        last=float(summary["last"]),
        count=summary["count"],
        avg=number(summary["avg"]),
        std_dev=number(summary["stddev"]),
        timestamp=moment(summary["time"]),
    )
