"""Switching: puts torch's own functions back where ours stand, and ours again, so that a training can be compared with
itself, a block of steps each.

What stays in both: our calls around clip_grad_norm_ and torch.save, a microsecond each.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from types import FunctionType
from typing import Any

import torch
from torch import nn


def hook_ns() -> int:
    """Inside the hook and its adapter, so far."""
    from trainwarden.torch import listeners

    session = sys.modules["trainwarden.torch.attach"]._session
    hook = session and session._hook
    return listeners.spent_ns() + (hook.report().training_thread_ns if hook else 0)


# Wall time, CPU time of this thread and of this process, and time inside the hook, in nanoseconds.
CLOCKS = (time.perf_counter_ns, time.thread_time_ns, time.process_time_ns, hook_ns)


class Switch:
    """Of everything of Trainwarden's in torch. `more`: further classes in which something of ours stands."""

    def __init__(self, optimizer_class: type, more: Iterable[Any] = ()) -> None:
        data = torch.utils.data.dataloader
        owners = [nn.Module, nn.modules.loss._Loss, torch.optim.Optimizer, optimizer_class, torch.autograd,
                  data.DataLoader, data._BaseDataLoaderIter, *more]  # fmt: skip
        self._places = [(owner, name, value) for owner in owners for name, value in vars(owner).items() if is_ours(value)]
        if not self._places:
            raise SystemExit("training: found nothing of Trainwarden's to switch off in this torch")
        optimizers = sys.modules["torch.optim.optimizer"]
        tables = ("_global_optimizer_pre_hooks", "_global_optimizer_post_hooks")
        self._tables = [getattr(optimizers, name) for name in tables if hasattr(optimizers, name)]
        self._hooks = [{key: hook for key, hook in table.items() if is_ours(hook)} for table in self._tables]

    def turn(self, on: bool) -> None:
        from trainwarden.torch import functions, listeners

        for owner, name, value in self._places:
            setattr(owner, name, value if on else torchs_own(value))
        for table, hooks in zip(self._tables, self._hooks):
            for key, hook in hooks.items():
                table.pop(key, None)
                if on:
                    table[key] = hook
        losses, activations = listeners.board.functions if on else (False, False)  # on as far as somebody wants it
        functions.switch_losses(losses)
        functions.switch_activations(activations)


def is_ours(value: Any) -> bool:
    """A gate, or a function of ours, which looks like torch's to all but those who ask for its file."""
    if type(value) is FunctionType:  # a gate passes for one
        return value.__code__.co_filename.startswith(os.path.dirname(str(sys.modules["trainwarden"].__file__)))
    return type(value).__module__.startswith("trainwarden.")


def torchs_own(value: Any) -> Any:
    while is_ours(value):
        value = value.__wrapped__
    return value
