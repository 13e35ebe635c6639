"""Attaches Trainwarden to a Python program that knows nothing of it.

trainwarden_attach.pth imports this module at the start of the interpreter when TRAINWARDEN_ATTACH=1. All that happens
then is that the imports of frameworks and of argparse are waited for: a program that uses none is left alone, and
starts as quickly as without us. So nothing is imported here but what Python has imported already.
"""

from __future__ import annotations

import sys

from . import _ending  # noqa: F401  first of all, so that hooks are closed behind all that the program does at its end
from ._imports import when_imported


def _attach_by(adapter: str, framework: str) -> None:
    """Nothing that goes wrong here may reach the program, which has just imported the framework and wants to train."""
    try:
        from importlib import import_module

        import_module(f".{adapter}.attach", __package__).attach()
    except Exception as error:
        print(f"trainwarden: error: could not attach to {framework}, nothing is captured: {error}", file=sys.stderr)


def _watch_arguments() -> None:
    """As above: a program whose arguments are not known is better than one that does not start."""
    try:
        from ._arguments import watch_argparse

        watch_argparse()
    except Exception as error:
        print(f"trainwarden: warning: the program's arguments are not recorded: {error}", file=sys.stderr)


when_imported("argparse", _watch_arguments)
when_imported("torch", lambda: _attach_by("torch", "torch"))
when_imported("xgboost.training", lambda: _attach_by("xgboost", "XGBoost"))
when_imported("mxnet.gluon", lambda: _attach_by("mxnet", "MXNet"))
when_imported("lightgbm.engine", lambda: _attach_by("lightgbm", "LightGBM"))
when_imported("sklearn.base", lambda: _attach_by("sklearn", "scikit-learn"))
when_imported("keras", lambda: _attach_by("keras", "Keras"))
when_imported("tf_keras", lambda: _attach_by("keras", "Keras"))
when_imported("jax", lambda: _attach_by("jax", "JAX"))
when_imported("tensorflow.python.client.session", lambda: _attach_by("tf_sessions", "TensorFlow's sessions"))
