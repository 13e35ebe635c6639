"""PyTorch: the estimator of scripts of PyTorch, and the processor of its steps."""

from __future__ import annotations

from .._estimator_keywords import PYTORCH
from .._keywords import takes
from ..estimator import Framework
from .processing import PyTorchProcessor

__all__ = ["PyTorch", "PyTorchProcessor"]


@takes(PYTORCH)
class PyTorch(Framework):
    """Trains with a script of PyTorch."""

    keywords = PYTORCH
    _framework = "pytorch"
    _module = "torch"
