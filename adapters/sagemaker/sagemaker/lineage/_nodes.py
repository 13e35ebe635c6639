"""Things of the lineage, by their ARNs and by the names that the program has for them."""

from __future__ import annotations

from urllib.parse import quote, unquote

from .._entities import entity_arn

_COMPONENT, _TRIAL, _ARTIFACT = "experiment-trial-component", "experiment-trial", "artifact"
_NODES = {_COMPONENT: "component:", _TRIAL: "trial:", _ARTIFACT: "artifact:"}


def component_of_job(name: str) -> str:
    return f"component:{name}-aws-training-job"


def node_of_arn(arn: str) -> str:
    """An ARN of this package as the program takes it.

    Raises:
        ValueError: another one.
    """
    kind, _, name = arn.split(":", 5)[-1].partition("/")
    if not arn.startswith("arn:") or kind not in _NODES or not name:
        raise ValueError(f"expected the ARN of an artifact, a component or a trial, found {arn!r}")
    return _NODES[kind] + (unquote(name) if kind == _ARTIFACT else name)


def arn_of_node(node: str) -> str:
    """The other way round."""
    prefix, _, name = node.partition(":")
    kind = next(kind for kind, known in _NODES.items() if known == f"{prefix}:")
    return entity_arn(kind, quote(name, safe="") if kind == _ARTIFACT else name)
