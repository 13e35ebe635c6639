"""A section of the page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    identity: str
    title: str
    content: str  # HTML
