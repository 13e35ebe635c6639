"""Association: how two things belong together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._entities import Entities
from ..exceptions import NotHere
from ._nodes import arn_of_node, node_of_arn

__all__ = ["Association"]


class Association:
    """A source "ContributedTo" a destination, "Produced" it, or is "AssociatedWith" it; the destination is "DerivedFrom" the
    source, or "SameAs" it.

    Attributes:
        source_arn, destination_arn, association_type.
    """

    def __init__(self, source_arn: str, destination_arn: str, association_type: str):
        self.source_arn, self.destination_arn, self.association_type = source_arn, destination_arn, association_type

    @classmethod
    def create(
        cls,
        source_arn: str,
        destination_arn: str,
        association_type: str | None = None,
        sagemaker_session: Any = None,
    ) -> Association:
        """
        Raises:
            ClientError: a type that is none, or the two have an association already.
        """
        made = cls(source_arn, destination_arn, association_type or "AssociatedWith")
        entities = Entities(getattr(sagemaker_session, "sagemaker_client", None))
        words = ("associate", f"--type={made.association_type}", "--", node_of_arn(source_arn))
        entities.tell("AddAssociation", *words, node_of_arn(destination_arn))
        return made

    @classmethod
    def list(
        cls,
        source_arn: str | None = None,
        destination_arn: str | None = None,
        association_type: str | None = None,
        sagemaker_session: Any = None,
    ) -> Iterator[Association]:
        """Those of a source or of a destination.

        Raises:
            ValueError: neither is named.
            ClientError: nothing is known of it.
        """
        start = source_arn or destination_arn
        if start is None:
            raise ValueError("Association.list: expected source_arn or destination_arn, found neither")
        entities = Entities(getattr(sagemaker_session, "sagemaker_client", None))
        edges = entities.lineage("ListAssociations", "--depth=1", "--", node_of_arn(start))["edges"]
        found = [
            cls(arn_of_node(edge["source"]), arn_of_node(edge["destination"]), edge["association_type"])
            for edge in edges
        ]
        return iter(
            [
                each
                for each in found
                if source_arn in (None, each.source_arn)
                and destination_arn in (None, each.destination_arn)
                and association_type in (None, each.association_type)
            ]
        )

    def delete(self, sagemaker_session: Any = None) -> None:
        raise NotHere("Association.delete: what was said stays")
