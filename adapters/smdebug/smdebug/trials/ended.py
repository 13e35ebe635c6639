"""EndOfTraining: the last look at a run whose training has ended."""

from __future__ import annotations

import time

import trainwarden

from ..core.logger import get_logger
from .opening import integer_of

DELAY_VARIABLE = "SMDEBUG_TRAINING_END_DELAY_REFRESH"


class EndOfTraining:
    """Says on the log, once, that everything is loaded.

    smdebug's word that a training has ended may come before the last files of other workers, above all on a network's
    storage. Who needs it sets SMDEBUG_TRAINING_END_DELAY_REFRESH: so many seconds later there is another look. A run
    of ours says of each worker that it has ended, and needs no delay.
    """

    def __init__(self, source: trainwarden.Trial):
        self._source = source
        self._is_settled = False

    def look(self) -> None:
        if self._is_settled or not self._source.loaded_all_steps:
            return
        self._is_settled = True
        delay_s = integer_of(DELAY_VARIABLE, 0) if self._source.recorder == "smdebug" else 0
        if delay_s:
            get_logger().info("the training has ended; looking for its last files again in %d s", delay_s)
            time.sleep(delay_s)
            self._source.refresh()
        get_logger().info("loaded all steps")
