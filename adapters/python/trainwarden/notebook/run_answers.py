"""Answers about a run in a folder."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidArgument
from .answers import Answers


def answers_of(source: Any) -> Answers:
    raise InvalidArgument(f"expected tokens and tensors, got {type(source).__name__} alone")
