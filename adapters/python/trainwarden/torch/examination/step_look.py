"""StepLook: a full examination of one train step: what goes into the model, what its loss compares, what it is worth."""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch

from ..loss_options import LossOptions
from . import own_losses, saved_hooks
from .batches import (
    Compared,
    add_neighbours,
    add_order,
    add_spread,
    add_symbols,
    add_values_of_rows,
    row_prints,
    telling_input,
    tensors_in,
)
from .features import add_features, features_of
from .held import Held
from .module_look import ModuleLook
from .numbers import Numbers, is_measurable
from .pieces import pieces_of
from .reordered import Reordered
from .standardised import Standardised
from .target_means import TargetMeans

_MAX_INPUTS = 4
# So many of the outputs of models in a step are known in its graph.
_MAX_OUTPUTS = 64


class StepLook:
    """Of one train step. `modules`: where they are looked at, too, which costs most; `target_means`: of the training."""

    def __init__(self, modules: Optional[ModuleLook], target_means: Optional[TargetMeans] = None) -> None:
        self.numbers = Numbers()
        self.modules = modules
        self._target_means = target_means
        self.before: Optional[torch.Tensor] = None  # weights before the optimizer stepped
        self.shapes: list[dict[str, Any]] = []  # of what losses compared
        self._model = 0  # id of the one that got the first input
        self._held = Held()
        self._kept_inputs: list[Callable[[], Optional[torch.Tensor]]] = []  # of it
        self._outputs = 0  # of models
        self.given: set[int] = set()  # where what models got lies in memory
        self._has_input = False
        self.losses = 0  # that have compared something
        self._order = Reordered()

    @property
    def _inputs(self) -> list[torch.Tensor]:
        """Those of it that still live, up to the first that does not."""
        inputs: list[torch.Tensor] = []
        for kept in self._kept_inputs:
            if (value := kept()) is None:
                break
            inputs.append(value)
        return inputs

    def let_go(self) -> None:
        """What is held of the program's step is given back."""
        self._kept_inputs = []
        self._order = Reordered()
        if self.modules is not None:
            self.modules.let_go()

    @property
    def input(self) -> Optional[torch.Tensor]:
        return self._kept_inputs[0]() if self._kept_inputs else None

    def see_inputs(self, model: Optional[torch.nn.Module], inputs: list[torch.Tensor], wants_gradients: bool) -> bool:
        """Tensors, at least one, that a model gets. Gives whether they are the first ones of the step that it may learn
        of: what an agent sees when it acts, without gradients, is none."""
        self.given.update(each.data_ptr() for each in inputs[:_MAX_INPUTS])
        if not wants_gradients:
            return False
        if self._has_input:
            if self._is_of_another(model, inputs[0]) and not self.numbers.has("other_input"):
                add_spread(self.numbers, "other_input", inputs[0])
            return False
        self._has_input = True
        self._model = id(model)
        self._order.see_input(telling_input(inputs))
        self._add_inputs(inputs)
        self._kept_inputs = [self._held.hold(each) for each in inputs[:_MAX_INPUTS]]
        return True

    def drawn(self, batch: Any) -> None:
        """A data loader has given this for the step."""
        self._order.drawn(batch)

    def _is_of_another(self, model: Optional[torch.nn.Module], value: torch.Tensor) -> bool:
        """Is it for another model, or another part of the same one, than the first input of the step was?"""
        is_wide = value.dim() >= 2 and value.numel() // value.shape[0] >= 4
        first = self.input
        is_other = id(model) != self._model or (first is not None and value.shape[1:] != first.shape[1:])
        return is_wide and is_other

    def _add_inputs(self, inputs: list[torch.Tensor]) -> None:
        numbers = self.numbers
        for index, each in enumerate(inputs[:_MAX_INPUTS]):
            add_spread(numbers, "input" if index == 0 else f"input{index}", each)
        numbers.add("float_inputs", [float(each.is_floating_point()) for each in inputs[:_MAX_INPUTS]])
        first = inputs[0]
        if first.dim() == 2 and first.is_floating_point() and 2 <= first.shape[1] <= 4096:
            spread = first.detach()[:256].float().std(dim=0, unbiased=False)
            positive = torch.where(spread > 0, spread, spread.max())
            numbers.add("input_scales", torch.stack([spread.max(), positive.min()]))
        if self.modules is not None:
            add_neighbours(numbers, first)
            add_order(numbers, first)
        self._add_prints(telling_input(inputs))
        standardised = Standardised()
        standardised.see(first)
        standardised.add(numbers, "standardised")
        numbers.add("input_shape", [float(size) for size in first.shape])
        add_features(numbers, "", features_of(inputs))
        if first.dtype in (torch.int64, torch.int32):
            add_symbols(numbers, first)

    def _add_prints(self, value: torch.Tensor) -> None:
        """By which samples are known when they come again."""
        rows, pieces = row_prints(value), pieces_of(value)
        if rows is not None:
            self.numbers.add("row_prints", rows)
            add_values_of_rows(self.numbers, value, rows)
        if pieces is not None:
            self.numbers.add("pieces", pieces)

    def see_output(self, output: Any) -> None:
        """Of an outermost model."""
        for each in tensors_in(output):
            if self._outputs < _MAX_OUTPUTS:
                self._outputs += 1
                own_losses.mark_output(each)
        if self.modules is not None:
            self.modules.forward_ends(output)

    def compared(self, function: str, inputs: Any, output: Any, options: LossOptions) -> None:
        """A loss function has compared two tensors. Of several losses that are added up the first one is the
        yardstick; of the second one the scale is looked at, and the padding where the first one has no sequences."""
        if self.modules is not None:
            self.modules.compared(function, inputs, options)
        compared = Compared(function, inputs, options)
        self.losses += 1
        if self.losses == 1:
            self._take_compared(compared)
            self._add_value(output)
            return
        if not self.numbers.has("target1"):
            compared.add_scales(self.numbers)
        if self.losses == 2 and self.input is not None and not self.numbers.has("padding"):
            self._take_padding_of_second(compared, output)

    def _add_value(self, output: Any, number: str = "") -> None:
        """What a loss function has given. Of one number for each element the program makes its loss itself, perhaps of
        some of them alone."""
        value = next(tensors_in(output), None)
        if value is not None and is_measurable(value):
            kind = "loss" if value.numel() == 1 else "elements"
            self.numbers.add(f"compared_{kind}{number}", value.detach().float().mean())

    def _take_padding_of_second(self, compared: Compared, output: Any) -> None:
        if (first := self.input) is None:
            return
        compared.add_padding(self.numbers, first, "padding1")
        plain = compared.plain_loss() if self.numbers.has("padding1") else None
        if plain is not None:
            self.numbers.add("plain_loss1", plain)
            self._add_value(output, "1")

    def _take_compared(self, compared: Compared) -> None:
        compared.add(self.numbers, "")
        if compared.target is not None:
            self._order.see_target(compared.target)
            self._order.add(self.numbers)
        if inputs := self._inputs:
            compared.add_relation(self.numbers, inputs[0])
            compared.add_telling(self.numbers, inputs)
            compared.add_padding(self.numbers, inputs[0])
            if self._target_means is not None:
                self._target_means.see(self.numbers, inputs, compared.target)
        self.shapes.append(compared.shapes())

    def see_loss(self, root: torch.Tensor) -> None:
        """The backward pass begins here: a loss that the program computed itself is found in its graph."""
        if self.modules is not None:
            self.modules.backward_begins()
        is_readable = self.losses == 0 and not saved_hooks.are_used()
        own = None if not is_readable else own_losses.compared_in(root)
        spread = own_losses.broadcast_in(root) if own is None and not saved_hooks.are_used() else None
        if spread is not None:
            self.numbers.add("own_broadcast", [float(each) for each in spread])
        if own is not None:
            self.losses += 1
            self._take_compared(own)
        self.numbers.add("loss", root)
