"""Evaluation: what one stretch of steps in another mode than train gave, as a few numbers."""

from __future__ import annotations

import weakref
from typing import Any, Optional

import torch

from ..module_tree import is_training
from . import dropouts
from .batches import Compared, add_spread, fingerprint, row_prints, telling_input, tensors_in
from .comparisons import Comparisons
from .features import add_features, features_of
from .norms import fresh_norms
from .numbers import Numbers, is_measurable
from .pieces import pieces_of
from .standardised import Standardised

_MAX_LOSSES = 4096
# The samples of so many batches are told apart, so many of each.
_MAX_BATCHES = 8
_FIRST_ROWS, _ROWS = 64, 16
_MAX_MODELS = 4


class Evaluation:
    """Of the stretch that follows a train step."""

    def __init__(self, after_step: int, loads: int = 0) -> None:
        """`loads`: states that the program has loaded into models so far."""
        self.after_step = after_step
        self._loads = loads
        self._before_load: Optional[tuple[int, int]] = None  # losses and shares of right answers that came before a load
        self._losses: list[torch.Tensor] = []
        self._rights: list[torch.Tensor] = []
        self._comparisons = Comparisons()
        self._calls = 0
        self._first: Optional[Numbers] = None  # of its first batch
        self._rows: list[torch.Tensor] = []  # prints of samples
        self._standardised = Standardised()
        self._pieces: list[torch.Tensor] = []  # of windows of series
        self._features: list[list[Optional[torch.Tensor]]] = []  # of its first batches
        self._random_before: Optional[list[torch.Tensor]] = None  # states of generators when a model was called
        self._last_input: Optional[weakref.ref[torch.Tensor]] = None
        self._repeats = 0  # calls with the input of the one before
        self._random = [0, 0]  # calls that were compared, and those in which a generator moved on
        self._norms: dict[int, list[float]] = {}  # of the first models
        self.dropout_place: Optional[str] = None  # where a dropout dropped although its model was in evaluation mode

    @property
    def has_seen(self) -> bool:
        """Was anything of it looked at?"""
        return bool(self._losses) or self._first is not None

    def is_of_loaded(self, loads: int) -> bool:
        """Has a state been loaded since? What comes now says nothing of the training's last step."""
        if loads <= self._loads:
            return False
        self._loads = loads
        self._before_load = len(self._losses), len(self._rights)
        return True

    def begin_step(self) -> None:
        """A step of it is looked at."""
        self._comparisons.begin()

    def end_steps(self) -> None:
        """A train step begins, or the evaluation is written."""
        self._comparisons.end()

    def see_model(self, model: torch.nn.Module) -> None:
        """That is called; trained or not, as an average of weights is."""
        if not is_training(model) and id(model) not in self._norms and len(self._norms) < _MAX_MODELS:
            self._norms[id(model)] = fresh_norms(model)

    def call_begins(self, value: Optional[torch.Tensor]) -> None:
        """A model in evaluation mode is called. Of calls with the same input the answers are averaged, perhaps."""
        self._repeats += int(value is not None and self._last_input is not None and self._last_input() is value)
        self._last_input = weakref.ref(value) if value is not None else None
        if self._random[0] < _MAX_BATCHES:
            self._random_before = _random_states()
            dropouts.begin()
        self._comparisons.call_begins()

    def call_ends(self, output: Any) -> None:
        self._comparisons.call_ends(output)
        self.dropout_place = dropouts.end() or self.dropout_place
        before, self._random_before = self._random_before, None
        if before is not None:
            moved = any(not torch.equal(one, other) for one, other in zip(before, _random_states()))
            self._random = [self._random[0] + 1, self._random[1] + int(moved)]

    def see_input(self, inputs: list[torch.Tensor]) -> None:
        self._calls += 1
        value = inputs[0]
        self._standardised.see(value)
        if len(self._rows) < _MAX_BATCHES:
            self._see_samples(telling_input(inputs))
        if len(self._features) < _MAX_BATCHES:
            self._features.append(features_of(inputs))
        if self._first is None:
            self._first = Numbers()
            add_spread(self._first, "eval_input", value)
            self._first.add("eval_input_shape", [float(size) for size in value.shape])
            self._first.add("eval_fingerprint", fingerprint(value))

    def _see_samples(self, value: torch.Tensor) -> None:
        rows, pieces = row_prints(value, _ROWS if self._rows else _FIRST_ROWS), pieces_of(value)
        if rows is not None:
            self._rows.append(rows)
        if pieces is not None:
            self._pieces.append(pieces)

    def see_loss(self, compared: Compared, output: Any) -> None:
        value = next((each for each in tensors_in(output) if is_measurable(each)), None)
        if value is None or value.numel() != 1 or len(self._losses) >= _MAX_LOSSES:
            return
        plain = compared.plain_loss()  # which is what that of the training is, whatever is weighted or summed up
        self._losses.append((plain if plain is not None else value).detach().clone().double())
        if compared.has_classes():
            scores, target = compared.scores()
            valid = compared.valid(target, scores.shape[-1])
            right = ((scores.argmax(dim=-1) == target) & valid).sum().double()
            self._rights.append(right / valid.sum().clamp(min=1))

    def add(self, numbers: Numbers) -> None:
        """All of it, when it is over; nothing where nothing was seen."""
        self.end_steps()
        if not self.has_seen:
            return
        if self._first is not None:
            numbers.extend(self._first)
        numbers.add("eval_after", float(self.after_step))
        numbers.add("eval_calls", float(self._calls))
        if self._random[0] > 0:
            numbers.add("eval_random", [float(each) for each in (*self._random, self._repeats)])
        freshest = max(self._norms.values(), key=lambda each: each[1], default=[0.0, 0.0])
        if freshest[0] > 0:
            numbers.add("eval_norms", freshest)
        if self._rows:
            numbers.add("eval_rows", torch.cat(self._rows))
        self._standardised.add(numbers, "eval_standardised")
        if self._pieces:
            numbers.add("eval_pieces", torch.cat(self._pieces))
        if self._features:
            add_features(numbers, "eval_", _means(self._features))
        losses, rights = self._losses, self._rights
        if self._before_load is not None and len(losses) > self._before_load[0]:
            numbers.add("eval_loaded", torch.stack(losses[self._before_load[0] :]).mean())
            if self._before_load[0] > 0:  # else it is all that this evaluation is of
                losses, rights = losses[: self._before_load[0]], rights[: self._before_load[1]]
        if losses:
            numbers.add("eval_loss", torch.stack(losses).mean())
            numbers.add("eval_losses", float(len(losses)))
        # Where a loss function has seen the labels, the program compares the same ones.
        if rights := rights or self._comparisons.shares():
            numbers.add("eval_accuracy", torch.stack(rights).mean())
        if squares := self._comparisons.squares:
            numbers.add("eval_square", torch.stack(squares).mean())


def _means(batches: list[list[Optional[torch.Tensor]]]) -> list[Optional[torch.Tensor]]:
    """Over those batches that are like the first one."""
    means: list[Optional[torch.Tensor]] = []
    for index, first in enumerate(batches[0]):
        like = [each[index] for each in batches if len(each) > index]
        alike = [each for each in like if each is not None and first is not None and each.shape == first.shape]
        means.append(torch.stack(alike).mean(dim=0) if alike else None)
    return means


def _random_states() -> list[torch.Tensor]:
    """Of the generators that are in use. Reading them waits for no device."""
    cuda = [torch.cuda.get_rng_state()] if torch.cuda.is_initialized() else []
    return [torch.get_rng_state(), *cuda]
