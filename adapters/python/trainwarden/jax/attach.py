"""Attach: jax.jit, jax.grad and jax.value_and_grad, and the updates of optax and equinox.

They are replaced as soon as JAX has been imported, before anybody has bound their names.
"""

from __future__ import annotations

import atexit
import functools
import os
import weakref
from typing import Any, Optional

import jax

from .. import faults
from .._imports import when_imported
from .._opening import run_folder
from .._passing import passed_over
from . import jitted, tags
from .watch import Watch

_ORIGINAL = "_trainwarden_jax_original"  # of a function that stands in for one of JAX's; Keras' adapter has a mark of its own

_watch: Optional[Watch] = None


def attach(run_dir: Optional[str] = None) -> None:
    """Captures trainings of this process from now on. A second call does nothing.

    Arguments:
        run_dir: the run's folder, by default the one that TRAINWARDEN_RUN_DIR or the configuration names.
    """
    global _watch
    if _watch is not None:
        return
    _watch = Watch(run_folder(run_dir))
    faults.on_too_many(detach)
    if not hasattr(jax.jit, _ORIGINAL):
        _replace(jax, "jit", jitted.replacement(jax.jit))
        _replace(jax, "grad", _grad(jax.grad, jax.value_and_grad))
        _replace(jax, "value_and_grad", _value_and_grad(jax.value_and_grad))
        tags.keep_out_of_policies()
        when_imported("optax", lambda: _attach_to(_attach_to_optax))
        when_imported("equinox", lambda: _attach_to(_attach_to_equinox))
        when_imported("flax.linen", lambda: _attach_to(_attach_to_linen))
    jitted.watch_calls(_watch.call)
    atexit.register(_watch.finish)


def detach() -> None:
    """Captures no more in this process, and ends the run that is open."""
    global _watch
    watch, _watch = _watch, None
    jitted.watch_calls(None)
    if watch is not None:
        atexit.unregister(watch.finish)
        watch.close()


@faults.guarded("attach to a library of JAX")
def _attach_to(library: Any) -> None:
    library()


def _replace(place: Any, name: str, function: Any) -> None:
    passed_over(function)
    setattr(function, _ORIGINAL, getattr(place, name))
    setattr(place, name, function)


def _value_and_grad(original: Any) -> Any:
    @functools.wraps(original)
    def value_and_grad(*args: Any, **kwargs: Any) -> Any:
        function = original(*args, **kwargs)
        return _differentiating(function, function, _has_aux(args, kwargs), lambda value, gradients: (value, gradients))

    return value_and_grad


def _grad(original: Any, original_with_value: Any) -> Any:
    """JAX computes the value, too, and throws it away."""

    @functools.wraps(original)
    def grad(*args: Any, **kwargs: Any) -> Any:
        function, with_value = original(*args, **kwargs), original_with_value(*args, **kwargs)
        has_aux = _has_aux(args, kwargs)

        def answer(value: Any, gradients: Any) -> Any:
            return (gradients, value[1]) if has_aux else gradients

        return _differentiating(function, with_value, has_aux, answer)

    return grad


def _has_aux(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return bool(args[2] if len(args) > 2 else kwargs.get("has_aux", False))


def _differentiating(like: Any, with_value: Any, has_aux: bool, answer: Any) -> Any:
    @functools.wraps(like)
    def differentiate(*args: Any, **kwargs: Any) -> Any:
        with tags.differentiating() as is_outermost:
            value, gradients = with_value(*args, **kwargs)
        watch = _watch
        if watch is not None and is_outermost:
            watch.differentiated(value[0] if has_aux else value, gradients)
        return answer(value, gradients)

    return differentiate


def _attach_to_optax() -> None:
    import optax

    numbers = iter(range(1 << 62))

    def with_update(original: Any) -> Any:
        """For __new__ of a gradient transformation."""

        @functools.wraps(original)
        def new(cls: Any, init: Any, update: Any) -> Any:
            return original(cls, _initializing(init), _updating(update, numbers))

        return new

    for kind in (optax.GradientTransformation, optax.GradientTransformationExtraArgs):
        if "__new__" in vars(kind):
            _replace(kind, "__new__", with_update(kind.__new__))
    # Its gradients go into the branch of a condition, out of which nothing comes.
    _replace(optax.MultiSteps, "update", _updating_method(optax.MultiSteps.update, numbers))
    _replace(optax, "apply_updates", _applying(optax.apply_updates))


def _attach_to_linen() -> None:
    from .layers import watch_layers

    watch_layers()


def _attach_to_equinox() -> None:
    import equinox

    _replace(equinox, "apply_updates", _applying(equinox.apply_updates))


def _initializing(original: Any) -> Any:
    if hasattr(original, _ORIGINAL) or not callable(original):
        return original

    @functools.wraps(original)
    def init(*args: Any, **kwargs: Any) -> Any:
        watch = _watch
        if watch is not None:
            watch.has_optimizer()
        return original(*args, **kwargs)

    setattr(init, _ORIGINAL, original)
    return init


def _updating(original: Any, numbers: Any) -> Any:
    if hasattr(original, _ORIGINAL) or not callable(original):
        return original
    group: list[int] = []  # the optimizer's number, which it gets when it is first outermost

    @functools.wraps(original)
    def update(*args: Any, **kwargs: Any) -> Any:
        return _update(original, args, kwargs, group, numbers)

    setattr(update, _ORIGINAL, original)
    return update


def _updating_method(original: Any, numbers: Any) -> Any:
    """Of optimizers that are objects."""
    groups: weakref.WeakKeyDictionary[Any, list[int]] = weakref.WeakKeyDictionary()

    @functools.wraps(original)
    def update(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _update(functools.partial(original, self), args, kwargs, groups.setdefault(self, []), numbers)

    return update


def _update(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any], group: list[int], numbers: Any) -> Any:
    watch = _watch
    with tags.updating() as is_outermost:
        if watch is None or not is_outermost:
            return original(*args, **kwargs)
        if not group:
            group.append(next(numbers))
        gradients = args[0] if args else kwargs.get("updates")
        if watch.updating(gradients, group[0]) is False:
            return jax.tree_util.tree_map(jax.numpy.zeros_like, gradients), _state_of(args, kwargs)
        answer = original(*args, **kwargs)
        watch.updated(answer[0], answer[1], group[0])
        return answer


def _state_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[1] if len(args) > 1 else kwargs.get("state")


def _applying(original: Any) -> Any:
    @functools.wraps(original)
    def apply_updates(*args: Any, **kwargs: Any) -> Any:
        watch = _watch
        if watch is not None and args and watch.withholds():
            weights = args[0]  # plus nothing, which makes 0 of -0
        else:
            weights = original(*args, **kwargs)
        if watch is not None:
            watch.applied(weights, args[1] if len(args) > 1 else kwargs.get("updates"))
        return weights

    return apply_updates


def _forget_in_child() -> None:
    if _watch is not None:
        _watch.start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
