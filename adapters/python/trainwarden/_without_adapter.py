"""Frameworks that Trainwarden knows and cannot attach to: who trains with one of them and captures nothing is told so."""

from __future__ import annotations

import atexit
import sys

from ._imports import when_imported

# By the module that is imported; some import others, so the first of these that was imported is named.
_FRAMEWORKS = {
    "tensorflow": "TensorFlow",
    "keras": "Keras",
    "jax": "JAX",
    "mxnet": "MXNet",
    "lightgbm": "LightGBM",
}


def tell_at_exit() -> None:
    """One line on standard error when the program ends, if it imported one of them and nothing was captured."""
    for module in _FRAMEWORKS:
        when_imported(module, _watch_exit)


def _watch_exit() -> None:
    atexit.unregister(_tell)
    atexit.register(_tell)


def _tell() -> None:
    framework = next((name for module, name in _FRAMEWORKS.items() if module in sys.modules), None)
    if framework is None or _has_captured():
        return
    print(
        f"trainwarden: nothing was captured: there is no adapter for {framework} yet. Open a hook in the program: "
        "hook = trainwarden.Hook.from_environment(), hook.save_tensor(name, array), hook.step() (docs/reference/python.md)",
        file=sys.stderr,
    )


def _has_captured() -> bool:
    hook = sys.modules.get("trainwarden.hook")
    return hook is not None and bool(hook.was_opened())
