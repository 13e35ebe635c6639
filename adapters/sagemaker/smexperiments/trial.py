"""Trial: one attempt within an experiment; components belong to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from sagemaker._description import moment
from sagemaker._entities import Entities, entity_arn
from sagemaker.exceptions import NotHere

from ._base import listed, new_name
from .trial_component import TrialComponent

__all__ = ["Trial"]


class Trial:
    """One trial. Made by create() and load().

    Attributes:
        trial_name, trial_arn, experiment_name, display_name, creation_time.
    """

    def __init__(self, found: dict[str, Any], entities: Entities):
        self.trial_name: str = found["name"]
        self.trial_arn = entity_arn("experiment-trial", self.trial_name)
        self.experiment_name: str = found["experiment"]
        self.display_name: str = found["display_name"] or self.trial_name
        self.creation_time: datetime = moment(found["created"])
        self._entities = entities

    @classmethod
    def create(
        cls,
        experiment_name: str,
        trial_name: str | None = None,
        sagemaker_boto_client: Any = None,
        trial_components: Iterable[Any] | None = None,
        tags: Any = None,
    ) -> Trial:
        """Makes one; without a name it gets one with the time in it.

        Raises:
            ClientError: there is no such experiment, or the trial is another experiment's.
            NotHere: tags.
        """
        if tags:
            raise NotHere("Trial.create: tags: give them to the experiment or to a component")
        entities = Entities(sagemaker_boto_client)
        name = new_name("SageMakerTrial") if trial_name is None else trial_name
        entities.ask("CreateTrial", "show", "--kind", "experiment", "--", experiment_name)  # it must be there
        entities.tell("CreateTrial", "create", f"--trial={name}", "--", experiment_name)
        trial = cls.load(name, sagemaker_boto_client)
        for component in trial_components or ():
            trial.add_trial_component(component)
        return trial

    @classmethod
    def load(cls, trial_name: str, sagemaker_boto_client: Any = None) -> Trial:
        """
        Raises:
            ClientError: there is none.
        """
        entities = Entities(sagemaker_boto_client)
        return cls(entities.ask("DescribeTrial", "show", "--kind", "trial", "--", trial_name), entities)

    @classmethod
    def list(
        cls,
        experiment_name: str | None = None,
        trial_component_name: str | None = None,
        created_before: datetime | None = None,
        created_after: datetime | None = None,
        sort_by: str | None = None,
        sort_order: str | None = None,
        sagemaker_boto_client: Any = None,
    ) -> Iterator[Trial]:
        """Those of an experiment or of a component, else all, the newest first."""
        entities = Entities(sagemaker_boto_client)
        names = [experiment_name]
        if experiment_name is None:
            names = [row["name"] for row in entities.ask("ListTrials", "ls")["experiments"]]
        rows = []
        for name in names:
            shown = entities.ask("ListTrials", "show", "--kind", "experiment", "--", str(name))
            rows += [{**row, "experiment": shown["name"]} for row in shown["trials"]]
        if trial_component_name is not None:
            component = entities.ask("ListTrials", "show", "--kind", "component", "--", trial_component_name)
            rows = [row for row in rows if row["name"] in component["trials"]]
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
    def search(cls, *_: Any, **__: Any) -> Any:
        raise NotHere("Trial.search: components are what can be searched: TrialComponent.search()")

    def add_trial_component(self, trial_component: Any) -> None:
        """A component, a tracker, or a component's name.

        Raises:
            ClientError: there is none.
        """
        component = getattr(trial_component, "trial_component", trial_component)
        name = str(getattr(component, "trial_component_name", component))
        self._entities.ask("AssociateTrialComponent", "show", "--kind", "component", "--", name)  # it must be there
        words = ("log", f"--experiment={self.experiment_name}", f"--trial={self.trial_name}", "--", name)
        self._entities.tell("AssociateTrialComponent", *words)

    def remove_trial_component(self, trial_component: Any) -> None:
        raise NotHere("Trial.remove_trial_component: what was said stays; delete() the component")

    def list_trial_components(
        self,
        created_before: datetime | None = None,
        created_after: datetime | None = None,
        sort_by: str | None = None,
        sort_order: str | None = None,
    ) -> Iterator[TrialComponent]:
        """Its components, the newest first."""
        return TrialComponent.list(
            trial_name=self.trial_name,
            created_before=created_before,
            created_after=created_after,
            sort_by=sort_by,
            sort_order=sort_order,
            sagemaker_boto_client=self._entities.client,
        )

    def save(self) -> None:
        raise NotHere("Trial.save: a trial is written once")

    def delete(self) -> None:
        """
        Raises:
            ClientError: components belong to it.
        """
        self._entities.tell("DeleteTrial", "rm", "--kind", "trial", "--", self.trial_name)

    def delete_all(self, action: str) -> None:
        """With its components, where these belong to no other trial.

        Raises:
            ValueError: `action` is not "--force".
        """
        if action != "--force":
            raise ValueError(f'delete_all: it throws components away; expected action="--force", found {action!r}')
        self._entities.tell("DeleteTrial", "rm", "--kind", "trial", "--components", "--", self.trial_name)

    def __repr__(self) -> str:
        return f"<trial {self.trial_name}>"
