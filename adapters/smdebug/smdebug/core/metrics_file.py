"""MetricsFile: scalars that the program marks as metrics, where the platform collects them."""

from __future__ import annotations

import json
import os
import time
from typing import Optional

from .config_constants import DEFAULT_SAGEMAKER_METRICS_PATH
from .logger import get_logger


class MetricsFile:
    """One JSON object a line, in a file of this process. What cannot be written is said once in the log."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, f"{os.getpid()}.json")

    @classmethod
    def from_environment(cls) -> Optional[MetricsFile]:
        """In the folder that SAGEMAKER_METRICS_DIRECTORY names; None when it names none."""
        folder = os.environ.get(DEFAULT_SAGEMAKER_METRICS_PATH)
        return cls(folder) if folder else None

    def write(self, name: str, value: float, step: int, timestamp: Optional[float] = None) -> None:
        """`timestamp`: seconds since 1970; None: now."""
        line = {
            "MetricName": name,
            "Value": value,
            "Timestamp": time.time() if timestamp is None else timestamp,
            "IterationNumber": step,
        }
        try:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            get_logger().warning("metrics cannot be written to %s: %s", self._path, error.strerror)
