"""Allowance: how much time the examination may take, and which steps it spends that on. Knows nothing of torch."""

from __future__ import annotations

import time
from typing import Callable, Optional

# A training of three seconds may cost a quarter of one, of which capture takes its part; one that goes on pays a share of
# its time.
START_SECONDS = 0.19
SHARE = 0.003
# Where it computes on an accelerator it may cost more: starting takes seconds there, and a look more operations than
# time. The first look is not counted at all: each operation is loaded when it is used for the first time, which takes
# half a second and more, once.
DEVICE_SECONDS = 0.25
# What another training of the same process may cost at its start: the second one, as a fine-tuning after its pretraining,
# and those after it, which are granted that not more often than so.
SECOND_SECONDS = 0.12
GRANT_SECONDS = 0.02
_GRANT_EVERY_SECONDS = 2.0
# The first steps of a training are examined whatever is left, of later ones where something was granted: on a busy machine
# a look costs several times as much, and so does the training.
_MIN_FULLS, _MIN_FULLS_OF_LATER = 2, 4
# What an examination is supposed to cost before one has been measured.
_FIRST_FULL_NS = 8_000_000
_FIRST_LIGHT_NS = 60_000
# The first steps are examined one after the other, later ones at distances that grow with the training, in steps or in
# time, whichever is sooner: a week of training gets some hundred looks, and what breaks late is seen, too.
_DENSE_STEPS = 5
_GROWTH = 1.25
_EVERY_SECONDS = 10.0
_TIME_GROWTH = 1 / 60
# The last few that there is time for are kept for what comes late: their distances double.
_LAST_FULLS, _LAST_GROWTH = 5, 2.0
# When something has happened so many steps are examined one after the other, as at the start.
_CLOSER_STEPS = 4
# Of what there is, so much is for full examinations and for evaluations, and the rest for light looks.
_FOR_FULL = 0.6
_FOR_EVALUATIONS = 0.15
# The first evaluations are looked at one after the other, later ones at distances that grow with the training; and each
# may have a part of what is left for them, so that the last ones are seen, too.
_DENSE_EVALUATIONS = 8
_EVALUATION_GROWTH = 1.1
# Evaluations of states that were loaded, and steps of each, that are looked at in any case.
_MAX_ANEW, _STEPS_ANEW = 3, 3
_FOR_FIRST_EVALUATION, _FOR_ONE_EVALUATION = 0.5, 0.25
# Light looks come in rows, one row after the other while more than this share of what they may cost at the start is left;
# the rest is for rows at distances that grow, each a part of what is left, so that it is seen what a short training has come
# to.
_ROW, _SHORT_ROW = 16, 4
_KEPT_FOR_LATER = 0.5
_FOR_ONE_ROW, _LOOK_GROWTH = 0.1, 1.25
_SMOOTHING = 0.3


def _for_light(nanoseconds: float) -> float:
    return (1.0 - _FOR_FULL - _FOR_EVALUATIONS) * nanoseconds


class Allowance:
    """Of one training. Times are nanoseconds of `clock`."""

    def __init__(self, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        self._clock = clock
        self._began = clock()
        self._full_spent = 0
        self._loading = 0  # of the first look on an accelerator
        self._light_spent = 0
        self._evaluation_spent = 0
        self._evaluation_ns = float(_FIRST_LIGHT_NS)
        self._evaluations = 0  # that were looked at
        self._evaluation: Optional[int] = None  # the train step that the current one follows
        self._evaluation_left = 0.0  # what the current one may still cost
        self._anew = 0  # times that a state was loaded in an evaluation
        self._next_evaluation = 0
        self._full_ns = float(_FIRST_FULL_NS)
        self._light_ns = float(_FIRST_LIGHT_NS)
        self._sure = _MIN_FULLS  # the steps before this one are examined
        self._first = 0  # step of the training, where the process trains several one after the other
        self._next_full = 0
        self._next_row = 0  # the step at which a short row of light looks is due
        self._last_full_ns = self._began
        self._closer = 0  # steps that are still to be examined one after the other
        self._asked = 0  # the same, whatever time is left
        self._device = 0.0  # seconds that looks may cost besides because of an accelerator
        self._granted, self._granted_ns = 0.0, self._began  # what trainings after the first one may cost besides, and when
        self._row = 0  # looks that are still to come before it is asked again whether there is time

    @property
    def spent_ns(self) -> int:
        return self._full_spent + self._light_spent + self._evaluation_spent + self._loading

    def _allowed(self) -> float:
        return (START_SECONDS + self._device + self._granted) * 1e9 + SHARE * (self._clock() - self._began)

    @property
    def has_device(self) -> bool:
        """Does the training compute on an accelerator?"""
        return self._device > 0.0

    def use_device(self) -> None:
        """The training computes on an accelerator."""
        self._device = DEVICE_SECONDS

    def begin_again(self, step: int) -> None:
        """Another training begins at this step: its first steps are examined one after the other, as far as there is time."""
        self._first = self._next_full = self._next_evaluation = self._next_row = step
        self._evaluations, self._evaluation = 0, None
        now = self._clock()
        if self._granted > 0.0 and now - self._granted_ns <= _GRANT_EVERY_SECONDS * 1e9:
            return
        self._granted += GRANT_SECONDS if self._granted > 0.0 else SECOND_SECONDS
        self._granted_ns = now
        self._sure = step + _MIN_FULLS_OF_LATER

    def may_examine(self, step: int) -> bool:
        """Is this train step, counted from 0, to be looked at in full?"""
        if self._asked > 0:
            return True
        is_due = step >= self._next_full or self._closer > 0 or self._is_late()
        return is_due and (step < self._sure or self._full_left() > self._full_ns)

    def are_last_fulls(self) -> bool:
        """Is there time for a few more full examinations only?"""
        return self._full_left() <= _LAST_FULLS * self._full_ns

    def _full_left(self) -> float:
        return _FOR_FULL * self._allowed() - self._full_spent

    def is_due(self, step: int) -> bool:
        """Would this step be looked at, in full or as the first of a row? Changes nothing."""
        return self.may_examine(step) or self._row_at(step) > 0

    def _light_left(self) -> float:
        return _for_light(self._allowed()) - self._light_spent

    def _is_late(self) -> bool:
        now = self._clock()
        distance = max(_EVERY_SECONDS * 1e9, _TIME_GROWTH * (now - self._began))
        return now - self._last_full_ns > distance

    def look_closer(self) -> None:
        """Something has happened: the next steps are examined one after the other, as far as there is time."""
        self._closer = _CLOSER_STEPS

    def ask(self, steps: int) -> None:
        """Somebody wants the next steps examined: they are, and what that takes is missing later on."""
        self._asked = max(self._asked, steps)

    def _row_at(self, step: int) -> int:
        """How many light looks in a row may begin at this step."""
        left, kept = self._light_left(), _KEPT_FOR_LATER * _for_light(START_SECONDS * 1e9)
        if left - kept >= _ROW * self._light_ns:
            return _ROW
        if step < self._next_row or left < _SHORT_ROW * self._light_ns:
            return 0
        return min(_ROW, max(_SHORT_ROW, int(_FOR_ONE_ROW * left / self._light_ns)))

    def may_look(self, step: int) -> bool:
        """Is there time for what costs little: a loss, a call of a model? Steps in a row, as beginning to look costs most."""
        if self._row > 0:
            self._row -= 1
            return self._light_left() > self._light_ns
        row = self._row_at(step)
        if row == 0:
            return False
        self._row = row - 1
        self._next_row = self._first + max(step - self._first + 2 * _SHORT_ROW, round((step - self._first) * _LOOK_GROWTH))
        return True

    def may_evaluate(self, after_step: int) -> bool:
        """Is there time to look at a step of the evaluation that follows this train step?"""
        if after_step != self._evaluation:
            self._evaluation = after_step
            self._evaluation_left = self._allow_evaluation(after_step)
        return self._evaluation_left > self._evaluation_ns

    def evaluate_anew(self) -> None:
        """A state was loaded in an evaluation: what it gives is worth a few steps, the first times."""
        if self._anew < _MAX_ANEW:
            self._anew += 1
            self._evaluation_left = max(self._evaluation_left, _STEPS_ANEW * self._evaluation_ns)

    def _allow_evaluation(self, after_step: int) -> float:
        left = _FOR_EVALUATIONS * self._allowed() - self._evaluation_spent
        if after_step < self._next_evaluation or left <= self._evaluation_ns:
            return 0.0
        share = _FOR_FIRST_EVALUATION if self._evaluations == 0 else _FOR_ONE_EVALUATION
        self._evaluations += 1
        if self._evaluations >= _DENSE_EVALUATIONS:
            self._next_evaluation = self._first + round((after_step - self._first) * _EVALUATION_GROWTH)
        return max(share * left, 2 * self._evaluation_ns)

    def evaluated(self, spent_ns: int) -> None:
        self._evaluation_left -= spent_ns
        self._evaluation_ns += _SMOOTHING * (spent_ns - self._evaluation_ns)
        self._evaluation_spent += spent_ns

    def examined(self, step: int, spent_ns: int) -> None:
        if self.has_device and self._full_spent == 0:
            self._loading = max(0, spent_ns - _FIRST_FULL_NS)
            spent_ns -= self._loading
        done = step - self._first
        self._closer = max(0, self._closer - 1)
        self._asked = max(0, self._asked - 1)
        self._last_full_ns = self._clock()
        self._full_ns += _SMOOTHING * (spent_ns - self._full_ns)
        self._full_spent += spent_ns
        growth = _LAST_GROWTH if self.are_last_fulls() else _GROWTH
        self._next_full = step + 1 if done + 1 < _DENSE_STEPS else self._first + max(done + 2, round(done * growth))

    def looked(self, spent_ns: int) -> None:
        self._light_ns += _SMOOTHING * (spent_ns - self._light_ns)
        self._light_spent += spent_ns
