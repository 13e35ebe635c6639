"""Hiding: what runs for us is no part of what the program counts, logs or overrides.

Modes of the program (TorchDispatchMode, TorchFunctionMode), __torch_function__ of its tensors, and profilers see no operator
of ours in the thread that is told something.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import torch
from torch.utils import _python_dispatch

from .._core import hide_operators, show_operators

_disable_modes: Any = getattr(_python_dispatch, "_disable_current_modes", None)  # torch < 2.0 has none
_dispatch_modes: Any = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)
if _disable_modes is None:  # function modes are left in the same way

    def _dispatch_modes() -> int:  # noqa: F811
        return int(torch._C._len_torch_dispatch_stack() + torch._C._len_torch_function_stack())


class Hidden(NamedTuple):
    """What is to be given back."""

    with_gradients: bool  # what the program computes is recorded for gradients
    functions: Any
    modes: Optional[Any]
    operators: bool


def hide() -> Hidden:
    """From now on, in this thread, until show(). Nothing that is computed meanwhile is recorded for gradients, so that the
    program's saved_tensors_hooks are not called either."""
    functions = torch._C.DisableTorchFunction()
    functions.__enter__()  # first: modes are told of changes of the gradient mode, too
    with_gradients = torch.is_grad_enabled()
    if with_gradients:
        torch._C._set_grad_enabled(False)
    modes = _leave_modes() if _dispatch_modes() else None
    return Hidden(with_gradients, functions, modes, hide_operators())


def show(hidden: Hidden) -> None:
    if hidden.operators:
        show_operators()
    if hidden.modes is not None:
        hidden.modes.__exit__(None, None, None)
    if hidden.with_gradients:
        torch._C._set_grad_enabled(True)
    hidden.functions.__exit__(None, None, None)


def _leave_modes() -> Any:
    modes = _disable_modes() if _disable_modes is not None else _ModesOf1()
    modes.__enter__()
    return modes


class _ModesOf1:
    """In torch 1.13 the stacks stay, and nobody asks them meanwhile. There DisableTorchFunction leaves modes alone."""

    def __enter__(self) -> None:
        self._stacks = torch._C._len_torch_dispatch_stack(), torch._C._len_torch_function_stack()
        if self._stacks[0]:
            torch._C._set_torch_dispatch_mode(None)
        if self._stacks[1]:
            torch._C._set_torch_function_mode(None)

    def __exit__(self, *raised: object) -> None:
        if self._stacks[0]:
            torch._C._set_torch_dispatch_mode(_python_dispatch._TorchDispatchStackMode())
        if self._stacks[1]:
            torch._C._set_torch_function_mode(torch.overrides._TorchFunctionStackMode())
