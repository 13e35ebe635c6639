"""TrainingJobAnalytics: the metrics of a job as a table. ExperimentAnalytics: the components of an experiment as one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from . import _program
from ._entities import Entities
from ._keywords import Keyword, Keywords, takes
from ._program import ProgramError
from .exceptions import NotHere
from .session import Session

if TYPE_CHECKING:
    import pandas

_PERIOD_SECONDS = 60
_COLUMNS = ("timestamp", "metric_name", "value")
TRAINING_JOB_ANALYTICS = Keywords(
    "TrainingJobAnalytics",
    [
        Keyword("training_job_name", "the job"),
        Keyword("metric_names", "which metrics; all of them without it"),
        Keyword("sagemaker_session", "where jobs and runs are"),
        Keyword("start_time", "only values from this datetime on"),
        Keyword("end_time", "only values before this datetime"),
        Keyword("period", "seconds whose values are one row with their average (60); 0: each value"),
    ],
)


@takes(TRAINING_JOB_ANALYTICS)
class TrainingJobAnalytics:
    """Rows of timestamp (seconds from the metric's own first row), metric_name and value, metric by metric."""

    CLOUDWATCH_NAMESPACE = "/aws/sagemaker/TrainingJobs"

    def __init__(self, *positional: Any, **given: Any):
        options = TRAINING_JOB_ANALYTICS.take(positional, given)
        if not options["training_job_name"]:
            raise ValueError("TrainingJobAnalytics: training_job_name: expected the name of a job, found none")
        self.name: str = options["training_job_name"]
        self._session: Session = options["sagemaker_session"] or Session()
        self._metric_names: list[str] | None = options["metric_names"]
        self._start: datetime | None = options["start_time"]
        self._end: datetime | None = options["end_time"]
        self._period = _PERIOD_SECONDS if options["period"] is None else options["period"]
        self._rows: list[tuple[float, str, float]] | None = None

    def dataframe(self, force_refresh: bool = False) -> pandas.DataFrame:
        """The table; it is read once, unless `force_refresh` asks for it again.

        Raises:
            NotHere: the program trainwarden is too old to have metrics from a program's output.
        """
        import pandas

        if force_refresh:
            self.clear_cache()
        if self._rows is None:
            self._rows = self._read()
        return pandas.DataFrame(self._rows, columns=list(_COLUMNS))

    def export_csv(self, filename: str) -> None:
        """Writes the table into a file."""
        self.dataframe().to_csv(filename, index=False)

    def clear_cache(self) -> None:
        """The next table is read anew."""
        self._rows = None

    def _read(self) -> list[tuple[float, str, float]]:
        run = self._session.describe_training_job(self.name).get("DebugHookConfig", {}).get("LocalPath")
        if run is None:
            run = str(self._session.sagemaker_client.runs / self.name)
        try:
            answer = _program.ask("metrics", "show", run, "--period", str(self._period), "--relative", "none")
        except ProgramError as error:
            if error.exit_code == 2:
                raise NotHere(
                    "this version of the program trainwarden keeps no metrics from a program's output; "
                    f"`trainwarden plot {self.name}` draws what was captured ({error.message.splitlines()[0]})"
                ) from error
            raise
        rows = [(float(row["timestamp"]), row["metric_name"], float(row["value"])) for row in answer["rows"]]
        return list(_from_first(row for row in rows if self._is_wanted(*row[:2])))

    def _is_wanted(self, timestamp: float, metric: str) -> bool:
        if self._metric_names is not None and metric not in self._metric_names:
            return False
        if self._start is not None and timestamp < self._start.timestamp():
            return False
        return self._end is None or timestamp < self._end.timestamp()


def _from_first(rows: Iterable[tuple[float, str, float]]) -> Iterable[tuple[float, str, float]]:
    """With timestamps that count from the first of each metric."""
    first: dict[str, float] = {}
    for timestamp, metric, value in rows:
        yield timestamp - first.setdefault(metric, timestamp), metric, value


EXPERIMENT_ANALYTICS = Keywords(
    "ExperimentAnalytics",
    [
        Keyword("experiment_name", "the experiment; this, search_expression or both are needed"),
        Keyword("search_expression", "a dict as SageMaker's Search has it, or what has to_boto()"),
        Keyword("sort_by", "a property: CreationTime (default), Metrics.loss.Min, Parameters.lr, ..."),
        Keyword("sort_order", "Descending (default) or Ascending", only=("Ascending", "Descending")),
        Keyword("metric_names", "which metrics; all of them without it"),
        Keyword("parameter_names", "which parameters; all of them without it"),
        Keyword("sagemaker_session", "whose experiments"),
        Keyword("input_artifact_names", "which input artifacts; all of them without it"),
        Keyword("output_artifact_names", "which output artifacts; all of them without it"),
    ],
)


@takes(EXPERIMENT_ANALYTICS)
class ExperimentAnalytics:
    """A row for each component, the newest first: TrialComponentName, DisplayName, SourceArn, its parameters, the
    Min, Max, Avg, StdDev, Last and Count of its metrics, its artifacts, Trials and Experiments."""

    MAX_TRIAL_COMPONENTS = 10000

    def __init__(self, *positional: Any, **given: Any):
        options = EXPERIMENT_ANALYTICS.take(positional, given)
        self.name: str | None = options["experiment_name"]
        self._expression = options["search_expression"]
        if not self.name and self._expression is None:
            raise ValueError("ExperimentAnalytics: expected experiment_name or search_expression, found neither")
        self._words: list[str] = [f"--sort-by={options['sort_by']}"] if options["sort_by"] else []
        self._words += ["--ascending"] if options["sort_order"] == "Ascending" else []
        for option, names in (
            ("--metrics", options["metric_names"]),
            ("--parameters", options["parameter_names"]),
            ("--inputs", options["input_artifact_names"]),
            ("--outputs", options["output_artifact_names"]),
        ):
            if names is not None:
                self._words.append(f"{option}={','.join(names)}")
        self._entities = Entities((options["sagemaker_session"] or Session()).sagemaker_client)
        self._frame: dict[str, Any] | None = None

    def dataframe(self, force_refresh: bool = False) -> pandas.DataFrame:
        """The table; it is read once, unless `force_refresh` asks for it again.

        Raises:
            ClientError: there is no such experiment, or the search cannot be meant.
        """
        import pandas

        if force_refresh:
            self.clear_cache()
        if self._frame is None:
            self._frame = self._read()
        return pandas.DataFrame(self._frame["rows"], columns=self._frame["columns"])

    def export_csv(self, filename: str) -> None:
        """Writes the table into a file."""
        self.dataframe().to_csv(filename, index=False)

    def clear_cache(self) -> None:
        """The next table is read anew."""
        self._frame = None

    def _read(self) -> dict[str, Any]:
        words = [*self._words]
        if self._expression is not None:
            expression = self._expression.to_boto() if hasattr(self._expression, "to_boto") else self._expression
            words.append(f"--expression={json.dumps(expression)}")
        named = ["--", self.name] if self.name else []
        frame: dict[str, Any] = self._entities.ask("Search", "analytics", *words, *named)
        return frame
