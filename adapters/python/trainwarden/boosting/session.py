"""Session: one training of boosted trees becomes a run, a boosting round a step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional

from .. import faults
from .._opening import open_for_attach
from ..guard import may_skip
from ..hook import Hook
from .parameters import as_labels, as_tensors
from .recorder import Recorder
from .training import Metric, Training


class Session:
    """Captures one training. Nothing here raises into it.

    A round's step ends when the next round begins, or the training ends, or where the adapter knows the round to be
    over: no time lies between.
    """

    def __init__(self, run_dir: Optional[str], training: Training) -> None:
        self._run_dir = run_dir
        self._training: Optional[Training] = training  # None between the rounds of a loop of the program's own
        self._hook: Optional[Hook] = None
        self._recorder: Optional[Recorder] = None
        self._model: Any = None  # of the round whose step is open
        self._is_open = False
        self._was_asked = False
        self._stops = False

    @faults.guarded("begin the run of a boosted training")
    def training_begins(self, model: Any) -> None:
        rounds = None if self._training is None else self._training.rounds(model)
        if rounds is not None:
            self._open(model, rounds)

    def training_has_begun(self, model: Any) -> None:
        """The same behind each round, of a model that may not be asked before its first one."""
        if not self._was_asked:
            self._was_asked = True
            self._open_behind_round(model)

    def round_begins(self) -> bool:
        """True: somebody wants the training to stop."""
        self._end_round(is_last=False)
        return self._stops

    @faults.guarded("record a boosting round")
    def round_ends(self, model: Any, metrics: Iterable[Metric]) -> None:
        if self._recorder is None:
            return
        self._is_open = True
        self._model = model
        self._recorder.record_metrics(metrics)

    def round_is_over(self, is_last: bool) -> bool:
        """For who knows that nobody does more in this round. True: somebody wants the training to stop."""
        self._end_round(is_last)
        return self._stops

    def training_ends(self, model: Any) -> None:
        self._end_round(is_last=True)

    def is_of(self, model: Any) -> bool:
        """Is it the model whose round's step is open?"""
        return self._is_open and self._model is model

    def own_round(self, model: Any, training: Training) -> None:
        """A round of a loop of the program's own, which has ended. Behind it nothing of its data is kept."""
        self._training = training
        try:
            if self._hook is None:
                self._open_behind_round(model)
            self.round_ends(model, ())
            self._end_round(is_last=False)
        finally:
            self._training = None

    def fails(self, error: BaseException) -> None:
        """The training has raised."""
        if self._hook is not None and isinstance(error, Exception):
            self._hook.dump_black_box(f"{type(error).__name__}: {error}", kind="exception")

    @faults.guarded("close the run of a boosted training")
    def close(self) -> None:
        self._end_round(is_last=True)
        hook, self._hook, self._recorder = self._hook, None, None
        if hook is not None:
            hook.close()

    @faults.guarded("end a boosting round")
    def _end_round(self, is_last: bool) -> None:
        if self._hook is None or self._recorder is None or not self._is_open:
            return
        self._is_open = False
        self._record_round(self._recorder, is_last)
        if self._hook is not None:  # it may have been closed for too many faults
            self._stops = self._hook.step().stop_requested

    @faults.guarded("record what a boosting round leaves")
    def _record_round(self, recorder: Recorder, is_last: bool) -> None:
        model, self._model = self._model, None
        if self._training is not None:
            recorder.record_round(self._training, model, is_last)

    @faults.guarded("begin the run of a boosted training")
    def _open_behind_round(self, model: Any) -> None:
        rounds = None if self._training is None else self._training.rounds(model)
        if rounds is not None:
            self._open(model, max(0, rounds - 1))

    def _open(self, model: Any, rounds: int) -> None:
        training = self._training
        if training is None:
            return
        parameters = training.parameters(model)
        to_come = training.rounds_to_come(model)
        length = {} if to_come is None else {"total_steps": str(rounds + to_come)}
        options: dict[str, Any] = {}
        place = training.place()  # without it the environment has the word
        if place is not None:
            options.update(rank=place[0], world_size=place[1])
        if rounds > 0:  # the training goes on with a model that has some
            options.update(first_global_step=rounds, first_mode_steps={"train": rounds})
        labels = {**as_labels(parameters), **length}
        self._hook = open_for_attach(self._run_dir, [training.library], labels=labels, **options)
        if self._hook is None:
            return
        self._hook.set_mode("train")
        if may_skip(self._hook):
            faults.say_once("rules cannot veto a boosting round; they can end the training")
        self._recorder = Recorder(self._hook, as_tensors(parameters))
