"""RunNews: what is logged about a run, each message once."""

from __future__ import annotations

import time

import trainwarden

from ..core.logger import get_logger
from ..core.utils import number_in

DELAY_VARIABLE = "SMDEBUG_TRAINING_END_DELAY_REFRESH"


class RunNews:
    """Looks at a run after each refresh: what of it is lost, and whether the training has ended.

    smdebug's word that a training has ended may come before the last files of other workers, above all on a network's
    storage. Who needs it sets SMDEBUG_TRAINING_END_DELAY_REFRESH: so many seconds later there is another look. A run
    of ours says of each worker that it has ended, and needs no delay.
    """

    def __init__(self, source: trainwarden.Trial):
        self._source = source
        self._told: set[tuple[str, str]] = set()
        self._is_ended = False

    def look(self) -> None:
        self._tell_losses()
        if not self._is_ended and self._source.loaded_all_steps:
            self._is_ended = True
            self._look_again()
            get_logger().info("loaded all steps of %s", self._source.path)

    def _tell_losses(self) -> None:
        for loss in self._source.losses:
            if (loss.where, loss.cause) not in self._told:
                self._told.add((loss.where, loss.cause))
                get_logger().warning("%s: not read, %s", loss.where, loss.cause)

    def _look_again(self) -> None:
        delay_s = number_in(DELAY_VARIABLE, 0) if self._source.recorder == "smdebug" else 0
        if delay_s:
            get_logger().info("the training has ended; looking for its last files again in %d s", delay_s)
            time.sleep(delay_s)
            self._source.refresh()
