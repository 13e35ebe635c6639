"""Functions: those of torch.nn.functional that are of interest, with calls of ours around what they do."""

from __future__ import annotations

import sys
from typing import Any, Callable

from torch.nn import functional

from . import gates
from .exchange import is_plain, put_around
from .frames import module_name_of, variables_of
from .gates import Around
from .loss_options import options_of_call

# Losses whose first two arguments are what was predicted and what it is compared with.
LOSSES = (
    "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "poisson_nll_loss", "gaussian_nll_loss",
    "soft_margin_loss", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
)  # fmt: skip

# Frames between what asks in begins() and the caller of the function: begins() and the function itself. A gate has none.
_CALLER = 3

ACTIVATIONS = ("relu", "relu6", "tanh", "sigmoid", "softmax")


# What switches our calls in losses and in activations off and on.
_loss_switches: list[Callable[[bool], None]] = []
_activation_switches: list[Callable[[bool], None]] = []


def switch_losses(on: bool) -> None:
    """While it is off the functions are torch's own, and cost what they cost without us."""
    for switch in _loss_switches:
        switch(on)


def switch_activations(on: bool) -> None:
    for switch in _activation_switches:
        switch(on)


def wrap_losses(is_idle: Callable[[], bool], notify: Callable[..., None], tell: Callable[..., None]) -> None:
    """`notify(name, inputs, output, options)` follows a call of a loss function by the program, unless `is_idle()`; `tell(method,
    phase)` stands around it."""
    for name in LOSSES:
        if is_plain(getattr(functional, name, None)):
            _loss_switches.append(put_around(getattr(functional, name), _around_loss(name, is_idle, notify, tell)))


def _around_loss(
    name: str, is_idle: Callable[[], bool], notify: Callable[..., None], tell: Callable[..., None]
) -> Around:
    def begins(*args: Any, **kwargs: Any) -> Any:
        if is_idle() or _is_torch():
            return None
        tell("phase_begins", "loss")
        return args, kwargs

    def ends(given: Any, output: Any) -> None:
        args, kwargs = given
        tell("phase_ends", "loss")
        notify(name, _inputs(args, kwargs), output, options_of_call(args, kwargs))

    return Around(begins, ends, lambda given: tell("phase_ends", "loss"))


def wrap_activations(is_wanted: Callable[[], bool], notify: Callable[..., None]) -> None:
    """`notify(method, name, self, tensor)` stands around a call by the program when `is_wanted()`: "activation_begins"
    with what goes in, "activation_ends" with what comes out. `self` is that of the method which calls, if it is one."""
    for name in ACTIVATIONS:
        if is_plain(getattr(functional, name, None)):
            _activation_switches.append(put_around(getattr(functional, name), _around_activation(name, is_wanted, notify)))


def _around_activation(name: str, is_wanted: Callable[[], bool], notify: Callable[..., None]) -> Around:
    def begins(*args: Any, **kwargs: Any) -> Any:
        if not is_wanted() or _is_torch():
            return None
        caller = variables_of(sys._getframe(_CALLER - 1 + gates.are_removed())).get("self")
        notify("activation_begins", name, caller, args[0] if args else kwargs.get("input"))
        return (caller,)

    def ends(call: Any, output: Any) -> None:
        notify("activation_ends", name, call[0], output)

    return Around(begins, ends)


def wrap_gradients(is_idle: Callable[[], bool], notify: Callable[..., None]) -> None:
    """`notify(outputs)` precedes the computation of the gradients of `outputs` by torch.func.grad."""
    function = getattr(sys.modules.get("torch._functorch.eager_transforms"), "_autograd_grad", None)
    if not is_plain(function):
        return

    def begins(*args: Any, **kwargs: Any) -> None:
        # With more arguments it is a product of a vector with a Jacobian matrix, of which no output is a loss.
        if not is_idle() and len(args) == 2 and kwargs.get("grad_outputs") is None:
            notify(args[0])

    put_around(function, Around(begins))


def _inputs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """What was predicted and what it is compared with, as far as they are there."""
    named = [kwargs[key] for key in ("input", "target") if key in kwargs]
    return (*args[:2], *named)[:2]


def _is_torch() -> bool:
    """Was the function called by torch itself, in a loss module perhaps, which is reported as such?"""
    caller = sys._getframe(_CALLER + gates.are_removed())
    return module_name_of(caller).startswith("torch.")
