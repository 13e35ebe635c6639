"""LineageTableVisualizer: what went into something, and what came out, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._entities import Entities
from .._keywords import Keyword, Keywords
from ._nodes import component_of_job, node_of_arn

if TYPE_CHECKING:
    import pandas

__all__ = ["LineageTableVisualizer"]

_NO_SERVICE = "there are no models and endpoints that are served; name a job, a component or an artifact"
SHOW = Keywords(
    "LineageTableVisualizer.show",
    [
        Keyword("trial_component_name", "a component"),
        Keyword("training_job_name", "a job that belongs to an experiment"),
        Keyword("processing_job_name", "a processing job that belongs to an experiment"),
        Keyword("pipeline_execution_step", "there are no pipelines; name a job", refused=True),
        Keyword("model_package_arn", _NO_SERVICE, refused=True),
        Keyword("endpoint_arn", _NO_SERVICE, refused=True),
        Keyword("artifact_arn", "an artifact"),
        Keyword("context_arn", "a trial; trial_arn of smexperiments.trial.Trial"),
        Keyword("actions_arn", "a component; trial_component_arn"),
    ],
)


class LineageTableVisualizer:
    """Tables with the columns Name/Source, Direction, Type, Association Type and Lineage Type; inputs come first."""

    def __init__(self, sagemaker_session: Any = None):
        self._entities = Entities(getattr(sagemaker_session, "sagemaker_client", None))

    def show(self, *positional: Any, **given: Any) -> pandas.DataFrame:
        """Of one thing, one step far.

        Raises:
            ClientError: nothing is known of it.
            ValueError: none is named, or several.
        """
        import pandas

        options = {name: value for name, value in SHOW.take(positional, given).items() if value}
        if len(options) != 1:
            raise ValueError(f"LineageTableVisualizer.show: expected one of {', '.join(SHOW)}, found {len(options)}")
        ((kind, value),) = options.items()
        if kind in ("training_job_name", "processing_job_name"):
            node = component_of_job(value)
        elif kind == "trial_component_name":
            node = f"component:{value}"
        else:
            node = node_of_arn(value)
        table = self._entities.lineage("QueryLineage", "--table", "--", node)
        return pandas.DataFrame(table["rows"], columns=table["columns"])


# help() and notebooks show what show() takes.
LineageTableVisualizer.show.__signature__ = SHOW.signature("self")  # type: ignore[attr-defined]
