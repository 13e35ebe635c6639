"""PyTorch: the estimator of scripts of PyTorch."""

from __future__ import annotations

from ._estimator_keywords import PYTORCH
from .estimator import Framework


class PyTorch(Framework):
    """Trains with a script of PyTorch."""

    keywords = PYTORCH
    __signature__ = PYTORCH.signature()
    _framework = "pytorch"
    _module = "torch"
