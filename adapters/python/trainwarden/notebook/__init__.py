"""What a notebook shows of a run: pictures that display themselves, and stay when the notebook is converted.

    import trainwarden
    from trainwarden.notebook import AttentionHeadView, ImageStrip, NeuronView, ScalarPlot

    trial = trainwarden.open("runs/bert")      # the last line of a cell: its state, losses and rules
    ScalarPlot(trial, "loss")
    AttentionHeadView(trial, layer=7, head=0)
    NeuronView(trial, layer=7, head=0, query=3)
    ImageStrip(trial, "conv0_weight", over="step")

Each is there as text (terminal), as SVG (files, converted notebooks) and, the attention views, as a page in a frame
and live. Nothing is needed beyond NumPy; live views want ``pip install "trainwarden[notebook]"``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import attention_head_view, neuron_view
    from .attention_head_view import AttentionHeadView
    from .image_strip import ImageStrip
    from .neuron_view import NeuronView
    from .scalar_plot import ScalarPlot
    from .trial_card import TrialCard

__all__ = [
    "AttentionHeadView",
    "ImageStrip",
    "NeuronView",
    "ScalarPlot",
    "TrialCard",
    "attention_head_view",
    "neuron_view",
]

_HOMES = {
    "AttentionHeadView": "attention_head_view",
    "ImageStrip": "image_strip",
    "NeuronView": "neuron_view",
    "ScalarPlot": "scalar_plot",
    "TrialCard": "trial_card",
}


def __getattr__(name: str) -> object:
    """Drawing needs NumPy. Who only offers the modules of old notebooks does not wait for its import."""
    if name in ("attention_head_view", "neuron_view"):
        return importlib.import_module(f".{name}", __name__)
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
