"""Artifact: data, code, a model: what goes into components and comes out of them."""

from __future__ import annotations

from typing import Any

from .._entities import Entities
from .._places import has_buckets, local_path
from ..exceptions import NotHere
from ._nodes import arn_of_node, node_of_arn

__all__ = ["Artifact"]


class Artifact:
    """One artifact, by its content where that is known, else by its address. Made by load() and of().

    Attributes:
        artifact_arn, artifact_name, artifact_type, source_uri.
    """

    def __init__(self, vertex: dict[str, Any]):
        self.artifact_arn = arn_of_node(vertex["node"])
        self.artifact_name = self.source_uri = vertex["name"]
        self.artifact_type: str = vertex["type"]

    @classmethod
    def load(cls, artifact_arn: str, sagemaker_session: Any = None) -> Artifact:
        """
        Raises:
            ClientError: nothing is known of it.
        """
        return cls(_vertices(node_of_arn(artifact_arn), "both", sagemaker_session)[0])

    @classmethod
    def of(cls, source_uri: str, sagemaker_session: Any = None) -> Artifact:
        """That which lies at a path or an address; not in the SDK.

        Raises:
            ClientError: no component has it.
        """
        in_bucket = source_uri.startswith("s3://") and has_buckets() and local_path(source_uri).exists()
        place = str(local_path(source_uri)) if in_bucket else source_uri
        return cls(_vertices(place, "both", sagemaker_session)[0])

    @classmethod
    def create(cls, *_: Any, **__: Any) -> Artifact:
        raise NotHere("Artifact.create: log it as what a component has: Tracker.log_input(), log_output()")

    def upstream(self, sagemaker_session: Any = None) -> list[str]:
        """The ARNs of all that led to it."""
        return self._others("ascendants", sagemaker_session)

    def downstream(self, sagemaker_session: Any = None) -> list[str]:
        """The ARNs of all that came of it."""
        return self._others("descendants", sagemaker_session)

    def _others(self, direction: str, session: Any) -> list[str]:
        vertices = _vertices(node_of_arn(self.artifact_arn), direction, session)
        return [arn_of_node(vertex["node"]) for vertex in vertices if vertex["distance"] != 0]


def _vertices(name: str, direction: str, session: Any) -> list[dict[str, Any]]:
    entities = Entities(getattr(session, "sagemaker_client", None))
    answer = entities.lineage("QueryLineage", f"--direction={direction}", "--", name)
    vertices: list[dict[str, Any]] = answer["vertices"]
    return vertices
