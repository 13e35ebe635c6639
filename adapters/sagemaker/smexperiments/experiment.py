"""Experiment: what is tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from sagemaker._description import moment
from sagemaker._entities import Entities, entity_arn
from sagemaker.exceptions import NotHere

from ._base import listed, new_name, tag_words
from .trial import Trial

__all__ = ["Experiment"]


class Experiment:
    """One experiment. Made by create() and load().

    Attributes:
        experiment_name, experiment_arn, display_name, description, creation_time, tags.
    """

    def __init__(self, found: dict[str, Any], entities: Entities):
        self.experiment_name: str = found["name"]
        self.experiment_arn = entity_arn("experiment", self.experiment_name)
        self.display_name: str = found["display_name"] or self.experiment_name
        self.description: str = found["description"] or ""
        self.creation_time: datetime = moment(found["created"])
        self.tags = [{"Key": key, "Value": value} for key, value in (found.get("tags") or {}).items()]
        self._entities = entities

    @classmethod
    def create(
        cls,
        experiment_name: str | None = None,
        description: str | None = None,
        sagemaker_boto_client: Any = None,
        tags: Iterable[dict[str, str]] | None = None,
        display_name: str | None = None,
    ) -> Experiment:
        """Makes one; without a name it gets one with the time in it.

        Raises:
            ClientError: there is one of this name, or the name or a text cannot be.
        """
        entities = Entities(sagemaker_boto_client)
        name = new_name("experiment") if experiment_name is None else experiment_name
        words = [f"--description={description}"] if description else []
        words += [f"--display-name={display_name}"] if display_name else []
        entities.tell("CreateExperiment", "create", *words, *tag_words(tags), "--", name)
        return cls.load(name, sagemaker_boto_client)

    @classmethod
    def load(cls, experiment_name: str, sagemaker_boto_client: Any = None) -> Experiment:
        """
        Raises:
            ClientError: there is none.
        """
        entities = Entities(sagemaker_boto_client)
        found = entities.ask("DescribeExperiment", "show", "--kind", "experiment", "--", experiment_name)
        return cls(found, entities)

    @classmethod
    def list(
        cls,
        created_before: datetime | None = None,
        created_after: datetime | None = None,
        sort_by: str | None = None,
        sort_order: str | None = None,
        sagemaker_boto_client: Any = None,
    ) -> Iterator[Experiment]:
        """All that there are, the newest first."""
        entities = Entities(sagemaker_boto_client)
        return listed(
            entities.ask("ListExperiments", "ls")["experiments"],
            lambda row: moment(row["created"]),
            lambda row: str(row["name"]),
            lambda row: cls(row, entities),
            created_after=created_after,
            created_before=created_before,
            sort_by=sort_by,
            sort_order=sort_order,
        )

    @classmethod
    def search(cls, *_: Any, **__: Any) -> Any:
        raise NotHere("Experiment.search: components are what can be searched: TrialComponent.search()")

    def create_trial(self, trial_name: str | None = None, trial_name_prefix: str = "SageMakerTrial") -> Trial:
        """A trial of it."""
        name = new_name(trial_name_prefix) if trial_name is None else trial_name
        return Trial.create(self.experiment_name, name, self._entities.client)

    def list_trials(
        self,
        created_before: datetime | None = None,
        created_after: datetime | None = None,
        sort_by: str | None = None,
        sort_order: str | None = None,
    ) -> Iterator[Trial]:
        """Its trials, the newest first."""
        return Trial.list(
            self.experiment_name,
            created_before=created_before,
            created_after=created_after,
            sort_by=sort_by,
            sort_order=sort_order,
            sagemaker_boto_client=self._entities.client,
        )

    def save(self) -> None:
        raise NotHere("Experiment.save: an experiment is written once; give create() its description")

    def delete(self) -> None:
        """With its trials.

        Raises:
            ClientError: components belong to it.
        """
        self._entities.tell("DeleteExperiment", "rm", "--kind", "experiment", "--", self.experiment_name)

    def delete_all(self, action: str) -> None:
        """With its trials and with their components, where these belong to no other experiment.

        Raises:
            ValueError: `action` is not "--force".
        """
        if action != "--force":
            raise ValueError(f'delete_all: it throws components away; expected action="--force", found {action!r}')
        words = ("rm", "--kind", "experiment", "--components", "--", self.experiment_name)
        self._entities.tell("DeleteExperiment", *words)

    def __repr__(self) -> str:
        return f"<experiment {self.experiment_name}>"
