"""What a training captures, and where that can be found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._keywords import Keyword, Keywords, takes

COLLECTION_CONFIG = Keywords(
    "CollectionConfig",
    [
        Keyword("name", "the collection's name"),
        Keyword("parameters", "what is in it and when it is saved, with the keys of smdebug's configurations"),
    ],
)
DEBUGGER_HOOK_CONFIG = Keywords(
    "DebuggerHookConfig",
    [
        Keyword("s3_output_path", "PATH/JOB/debug-output leads to the job's run: a link, or its mirror in a bucket"),
        Keyword("container_local_output_path", "leave it out: a run lies in the folder of runs", refused=True),
        Keyword("hook_parameters", "what holds for all collections, with the keys of smdebug's configurations"),
        Keyword("collection_configs", "a list of CollectionConfig: what is captured"),
    ],
)
TENSORBOARD_OUTPUT_CONFIG = Keywords(
    "TensorBoardOutputConfig",
    [
        Keyword("s3_output_path", "the job's run is exported for TensorBoard to PATH/JOB"),
        Keyword(
            "container_local_output_path", "leave it out: the export is written where it is to be found", refused=True
        ),
    ],
)


def _texts(owner: str, parameters: Mapping[str, Any] | None) -> dict[str, str]:
    """As SageMaker's API has them: "true", "100"."""
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping):
        raise ValueError(f"{owner}: expected a dict, found {parameters!r}")
    return {str(name): _text(value) for name, value in parameters.items()}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@takes(COLLECTION_CONFIG)
class CollectionConfig:
    """A named set of tensors, and when it is saved."""

    def __init__(self, *positional: Any, **given: Any):
        options = COLLECTION_CONFIG.take(positional, given)
        if not isinstance(options["name"], str) or not options["name"]:
            raise ValueError(f"CollectionConfig: name: expected a name, found {options['name']!r}")
        self.name: str = options["name"]
        self.parameters = _texts(f"CollectionConfig: {self.name}: parameters", options["parameters"])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CollectionConfig):
            return NotImplemented
        return self.name == other.name and self.parameters == other.parameters

    __hash__ = None  # type: ignore[assignment]

    def request(self) -> dict[str, Any]:
        parameters = {"CollectionParameters": self.parameters} if self.parameters else {}
        return {"CollectionName": self.name, **parameters}


@takes(DEBUGGER_HOOK_CONFIG)
class DebuggerHookConfig:
    """What is captured. Without one, losses, signals and statistics are, for at most 1 % of the training's time."""

    def __init__(self, *positional: Any, **given: Any):
        options = DEBUGGER_HOOK_CONFIG.take(positional, given)
        self.s3_output_path: str | None = options["s3_output_path"]
        self.hook_parameters = _texts("DebuggerHookConfig: hook_parameters", options["hook_parameters"])
        self.collection_configs: list[CollectionConfig] = list(options["collection_configs"] or ())

    def request(self, for_rules: Iterable[CollectionConfig] = ()) -> dict[str, Any]:
        """As DebugHookConfig, with the collections that rules want besides.

        Raises:
            ValueError: a collection is there twice, with other parameters.
        """
        request: dict[str, Any] = {}
        if self.s3_output_path:
            request["S3OutputPath"] = self.s3_output_path
        if self.hook_parameters:
            request["HookParameters"] = self.hook_parameters
        merged: dict[str, CollectionConfig] = {}
        for collection in [*self.collection_configs, *for_rules]:
            if merged.setdefault(collection.name, collection) != collection:
                raise ValueError(
                    f"collection {collection.name!r}: expected the same parameters wherever it is named, found "
                    f"{merged[collection.name].parameters} and {collection.parameters}"
                )
        if merged:
            request["CollectionConfigurations"] = [collection.request() for collection in merged.values()]
        return request


@takes(TENSORBOARD_OUTPUT_CONFIG)
class TensorBoardOutputConfig:
    """Where a run is exported for TensorBoard while it is written."""

    def __init__(self, *positional: Any, **given: Any):
        self.s3_output_path: str = TENSORBOARD_OUTPUT_CONFIG.take(positional, given)["s3_output_path"]
        if not self.s3_output_path:
            raise ValueError("TensorBoardOutputConfig: s3_output_path: expected a folder, found none")

    def request(self) -> dict[str, Any]:
        return {"S3OutputPath": self.s3_output_path}
