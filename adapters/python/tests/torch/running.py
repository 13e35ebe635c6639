"""The programs that train with PyTorch, and how they are run."""

from __future__ import annotations

from pathlib import Path

import pytest

import torch
from untouched import EVERYTHING, Captured, Ended, Runner, clean_environment, has_pth

__all__ = [
    "EVERYTHING",
    "HAS_SCALER",
    "PROGRAMS",
    "TORCH_2",
    "Captured",
    "Ended",
    "Runner",
    "clean_environment",
    "has_pth",
    "needs_scaler",
    "needs_torch_2",
]

PROGRAMS = Path(__file__).parent / "programs"
TORCH_2 = not torch.__version__.startswith("1.")

HAS_SCALER = hasattr(torch.amp, "GradScaler")
needs_scaler = pytest.mark.skipif(not HAS_SCALER, reason="this torch has gradient scalers for CUDA alone")
needs_torch_2 = pytest.mark.skipif(not TORCH_2, reason=f"torch {torch.__version__} has no torch.compile")
