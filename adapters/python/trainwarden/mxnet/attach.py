"""Attach: calls of Gluon's blocks, backward passes and updates of a Trainer are followed.

The classes themselves are changed, not the program's blocks: a block with a hook on it warns when it is hybridised.
"""

from __future__ import annotations

import os
from typing import Any, Callable, Optional

from mxnet import autograd
from mxnet.gluon import Block, Trainer
from mxnet.ndarray import NDArray

from .. import faults
from .._opening import run_folder
from .._replacing import replace_known
from .session import Session

_session: Optional[Session] = None


def attach(run_dir: Optional[str] = None) -> None:
    """Captures what this process trains from now on. A second call does nothing.

    Arguments:
        run_dir: the folder of the run, by default the one that TRAINWARDEN_RUN_DIR or the configuration names.
    """
    global _session
    if _session is not None:
        return
    _session = Session(run_folder(run_dir), detach)
    faults.on_too_many(detach)
    replace_known(Block, "__call__", _following_calls)
    replace_known(Trainer, "__init__", _following_trainers)
    replace_known(Trainer, "_allreduce_grads", _following_sums)
    replace_known(Trainer, "_update", _following_updates)
    replace_known(NDArray, "backward", _following_backward)
    replace_known(autograd, "backward", _following_backward)


def detach() -> None:
    """Captures no more in this process, and ends the run that is open."""
    global _session
    session, _session = _session, None
    if session is not None:
        session.close()


def _following_calls(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        session = _session
        if session is None or session.passes_over(self):
            return original(self, *args, **kwargs)
        _wait(session.call_begins(self))
        session.call_goes_on(self)
        try:
            output = original(self, *args, **kwargs)
        except BaseException:
            session.call_fails(self)
            raise
        session.call_ends(self, args, output)
        return output

    return call


def _following_trainers(original: Callable[..., Any]) -> Callable[..., Any]:
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if _session is not None:
            _session.trainer_made(self)

    return made


def _following_sums(original: Callable[..., Any]) -> Callable[..., Any]:
    """The sums of gradients over devices: a store that holds the weights updates them on the way."""

    def add_up(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_updated_in_store(self) and not _begin_update(self):
            return None
        return original(self, *args, **kwargs)

    return add_up


def _following_updates(original: Callable[..., Any]) -> Callable[..., Any]:
    def update(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = None
        if _is_updated_in_store(self) or _begin_update(self):
            result = original(self, *args, **kwargs)
        session = _session
        if session is not None:
            session.stop_if_asked(session.update_ends(self))
        return result

    return update


def _following_backward(original: Callable[..., Any]) -> Callable[..., Any]:
    def backward(heads: Any, *args: Any, **kwargs: Any) -> Any:
        if _session is not None:
            _session.backward_begins(heads)
        return original(heads, *args, **kwargs)

    return backward


def _is_updated_in_store(trainer: Any) -> bool:
    return bool(trainer._kvstore and trainer._update_on_kvstore)


def _begin_update(trainer: Any) -> bool:
    """False: a rule inside the training vetoes it."""
    session = _session
    if session is None:
        return True
    _wait(session.update_begins(trainer))
    return session.may_update(trainer) is not False


def _wait(arrays: Any) -> None:
    """Until they are computed. What MXNet raises here is an error of the program's, which waits in the array for who asks
    first: it must not end with us."""
    for array in arrays or ():
        array.wait_to_read()


def _forget_in_child() -> None:
    """The run that is open belongs to the parent of this forked process."""
    global _session
    if _session is not None:
        _session = Session(_session.run_dir, detach)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
