"""Adversaries: what a discriminator's answers are compared with, for what a generator made and for what it did not.

A generator is to be taken for real: where the answers to its samples are compared with the same number in its own step and
in that of the discriminator, or are pulled in the same direction, it helps the discriminator.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch

from ... import faults
from ..contents import is_plain_tensor
from ..listeners import at_work
from .batches import tensors_in
from .held import Held
from .numbers import Numbers, is_measurable

_MAX_KEPT = 16
# The correlation of samples with what they were before noise was added, at least.
_NOISY, _MIN_ELEMENTS = 0.5, 64


class Adversaries:
    """Of one step. Holds no graph: a hook of ours lies in it, which is removed when the step ends."""

    def __init__(self) -> None:
        self._held = Held()
        self._made: list[Callable[[], Optional[torch.Tensor]]] = []  # outputs of models
        # To inputs that are "real", "fake", or "made" in this step.
        self._answers: list[tuple[Callable[[], Optional[torch.Tensor]], str]] = []
        self._asked: Optional[str] = None
        self._targets: dict[str, torch.Tensor] = {}
        # The gradient of the answers, smallest and largest together, where it has one sign.
        self._pulls: dict[str, torch.Tensor] = {}
        self._hooks: list[Any] = []  # their handles
        self._ranges: dict[tuple[int, str], torch.Tensor] = {}  # of what a model got that is "real", or "made"
        self._noise: Optional[torch.Tensor] = None  # that was added to samples, as a standard deviation

    def forward_begins(self, model: Optional[torch.nn.Module], args: Any) -> None:
        given = next(tensors_in(args), None)
        self._asked = None
        if given is None or not is_plain_tensor(given) or not given.is_floating_point():
            return
        made = next((each for each in map(_value_of, self._made) if each is not None and _is_of(given, each)), None)
        self._asked = ("made" if given.requires_grad else "fake") if made is not None else "real"
        if made is not None and made.data_ptr() != given.data_ptr() and self._noise is None:
            self._noise = (given.detach() - made.detach()).float().std()
        kind, value = (id(model), "real" if made is None else "made"), given if made is None else made
        if model is not None and kind not in self._ranges and len(self._ranges) < _MAX_KEPT and is_measurable(value) and value.numel() > 0:
            self._ranges[kind] = torch.stack(torch.aminmax(value.detach().float()))

    def forward_ends(self, output: Any) -> None:
        given = next(tensors_in(output), None)
        if given is None or not is_plain_tensor(given) or len(self._made) >= _MAX_KEPT:
            return
        self._made.append(self._held.hold(given))
        if self._asked is not None:
            self._answers.append((self._made[-1], self._asked))
            self._watch_pull(given, self._asked)

    def _watch_pull(self, answer: torch.Tensor, asked: str) -> None:
        if answer.requires_grad and is_measurable(answer) and answer.numel() > 0:
            node = answer.grad_fn  # a hook on the tensor itself would show in its _backward_hooks
            if node is not None:
                self._hooks.append(node.register_hook(_pull_into(self._pulls, asked, answer.output_nr)))

    def let_go(self) -> None:
        """The step ends, or a backward pass that may never come is no longer waited for."""
        hooks, self._hooks = self._hooks, []
        for each in hooks:
            each.remove()
        self._made, self._answers = [], []

    def compared(self, inputs: Any) -> None:
        """By a loss function: answers with a target."""
        pair = list(tensors_in(inputs))[:2]
        if len(pair) < 2 or not is_measurable(pair[1]) or pair[1].numel() == 0 or not pair[1].is_floating_point():
            return
        known = [(_value_of(answer), asked) for answer, asked in self._answers]
        place = pair[0].data_ptr()
        asked = next((asked for answer, asked in known if answer is not None and answer.data_ptr() == place), None)
        if asked is not None and asked not in self._targets:
            low, high = torch.aminmax(pair[1].detach())
            self._targets[asked] = torch.where(low == high, low, low * float("nan"))

    def add(self, numbers: Numbers) -> None:
        self._add_ranges(numbers)
        if "made" in self._targets and "fake" in self._targets:
            kept = [self._targets.get(each) for each in ("real", "fake", "made")]
            numbers.add("adversary", torch.stack([torch.tensor(float("nan")) if each is None else each.float().cpu() for each in kept]))
        if "made" in self._pulls or "fake" in self._pulls:
            pulls = [self._pulls.get(each) for each in ("real", "fake", "made")]
            numbers.add("adversary_pull", [float("nan") if each is None else float(each) for each in pulls])

    def _add_ranges(self, numbers: Numbers) -> None:
        """Of the first model that gets both."""
        for (model, kind), made in self._ranges.items():
            real = self._ranges.get((model, "real"))
            if kind == "made" and real is not None:
                noise = real.new_zeros(1) if self._noise is None else self._noise.reshape(1)
                numbers.add("adversary_ranges", torch.cat([real, made, noise]))
                return


def _value_of(held: Callable[[], Optional[torch.Tensor]]) -> Optional[torch.Tensor]:
    return held()


def _pull_into(pulls: dict[str, torch.Tensor], asked: str, number: int) -> Callable[[Any, Any], None]:
    """A hook for what has computed an answer, its output of this number. It knows nothing but where its result goes: what
    lies in a graph and leads to that graph is a cycle that Python's collector does not see."""

    @faults.guarded("see which way a loss pulls the answers of a model")
    def see(_: Any, gradients: Any) -> None:
        gradient = gradients[number]
        if not is_measurable(gradient):
            return
        with at_work():
            low, high = torch.aminmax(gradient.detach().float())
            is_one_way = (low >= 0) | (high <= 0)
            pulls.setdefault(asked, torch.where(is_one_way, low + high, low * float("nan")))

    return see


def _is_of(given: torch.Tensor, made: torch.Tensor) -> bool:
    """Is it what a model made, itself or with noise that was added to it?"""
    if given.data_ptr() == made.data_ptr():
        return True
    if given.shape != made.shape or given.dim() < 2 or given.shape[0] < 4 or not (is_measurable(given) and is_measurable(made)):
        return False
    ours, theirs = (each.detach()[:32].reshape(min(32, given.shape[0]), -1)[:, :64].float() for each in (given, made))
    ours, theirs = ours - ours.mean(dim=0), theirs - theirs.mean(dim=0)  # samples of one kind are alike as they are
    size = ours.norm() * theirs.norm()
    return ours.numel() >= _MIN_ELEMENTS and bool((ours * theirs).sum() > _NOISY * size) and bool(size > 0)
