"""StopTrainingAction: asks the training of the rule's base trial to stop."""

from __future__ import annotations

import trainwarden

from ...core.logger import get_logger
from .firing import write_down


class StopTrainingAction:
    """Writes one request into the run; the training reads it at the end of a step.

    training_job_prefix chose among training jobs in the cloud; here it is the run that the rule judges.
    """

    def __init__(self, rule_name: str, training_job_prefix: str, run: trainwarden.Trial | None = None):
        self.rule_name = rule_name
        self.training_job_prefix = training_job_prefix
        self._run = run
        self._is_done = False

    def invoke(self, message: str = "", step: int | None = None) -> None:
        """Waits up to 30 s for the answer of a training that still runs."""
        if self._is_done or self._run is None:
            return
        self._is_done = True
        words = f"rule {self.rule_name} fired {message}".rstrip()
        if self._run.recorder != "trainwarden":
            get_logger().warning("%s; %s was written by smdebug and cannot be asked to stop", words, self._run.path)
            return
        if self._run.loaded_all_steps:
            get_logger().info("%s; the training has ended already", words)
            return
        write_down(self._run, self.rule_name, step, words, on_fire="stop")
        get_logger().info("%s; the training was asked to stop", words)
