"""TensorFlow: the estimator of scripts of TensorFlow."""

from __future__ import annotations

from ._estimator_keywords import TENSORFLOW
from ._keywords import takes
from .estimator import Framework


@takes(TENSORFLOW)
class TensorFlow(Framework):
    """Trains with a script of TensorFlow; of PyTorch, where TensorFlow is not in the environment."""

    keywords = TENSORFLOW
    _framework = "tensorflow"
    _module = "tensorflow"
