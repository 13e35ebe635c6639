"""MXNet: the estimator of scripts of MXNet."""

from __future__ import annotations

from ._estimator_keywords import MXNET
from .estimator import Framework


class MXNet(Framework):
    """Trains with a script of MXNet; of PyTorch, where MXNet is not in the environment."""

    keywords = MXNET
    __signature__ = MXNET.signature()
    _framework = "mxnet"
    _module = "mxnet"
