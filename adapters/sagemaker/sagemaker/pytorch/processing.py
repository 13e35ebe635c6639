"""PyTorchProcessor: steps that prepare or judge data, with PyTorch."""

from __future__ import annotations

from .._keywords import takes
from .._processing_keywords import PYTORCH_PROCESSOR
from ..processing import FrameworkProcessor


@takes(PYTORCH_PROCESSOR)
class PyTorchProcessor(FrameworkProcessor):
    """Runs a script, with the folder that it lies in."""

    keywords = PYTORCH_PROCESSOR
