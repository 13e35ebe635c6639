"""MXNet: the estimator of scripts of MXNet."""

from __future__ import annotations

from ._estimator_keywords import MXNET
from ._keywords import takes
from .estimator import Framework


@takes(MXNET)
class MXNet(Framework):
    """Trains with a script of MXNet; of PyTorch, where MXNet is not in the environment."""

    keywords = MXNET
    _framework = "mxnet"
    _module = "mxnet"
