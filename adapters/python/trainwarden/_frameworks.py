"""What a run says it was trained with."""

from __future__ import annotations

import sys

_NAMES = {
    "gluonnlp": "GluonNLP",
    "jax": "JAX",
    "keras": "Keras",
    "lightgbm": "LightGBM",
    "mxnet": "MXNet",
    "sklearn": "scikit-learn",
    "tensorflow": "TensorFlow",
    "tf_keras": "Keras",
    "torch": "PyTorch",
    "xgboost": "XGBoost",
}


def trained_with(*modules: str) -> str:
    """ "Keras 3.15.1, TensorFlow 2.21.0": of those of `modules` that this process has imported."""
    known = ((name, sys.modules.get(name)) for name in modules)
    return ", ".join(
        f"{_NAMES.get(name, name)} {getattr(module, '__version__', '')}".rstrip() for name, module in known if module
    )
