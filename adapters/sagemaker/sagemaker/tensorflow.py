"""TensorFlow: the estimator of scripts of TensorFlow."""

from __future__ import annotations

from ._estimator_keywords import TENSORFLOW
from .estimator import Framework


class TensorFlow(Framework):
    """Trains with a script of TensorFlow; of PyTorch, where TensorFlow is not in the environment."""

    keywords = TENSORFLOW
    __signature__ = TENSORFLOW.signature()
    _framework = "tensorflow"
    _module = "tensorflow"
