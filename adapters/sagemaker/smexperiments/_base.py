"""What experiments, trials and components have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timezone
from typing import Any, TypeVar

from sagemaker._description import moment

_Entity = TypeVar("_Entity")
_ORDERS = ("Ascending", "Descending")


def optional_moment(text: str | None) -> datetime | None:
    return None if text is None else moment(text)


def new_name(prefix: str) -> str:
    """PREFIX-2026-11-23-170509-123456."""
    return f"{prefix}-{datetime.now(timezone.utc):%Y-%m-%d-%H%M%S-%f}"


def tag_words(tags: Iterable[dict[str, str]] | None) -> list[str]:
    """[{"Key": ..., "Value": ...}] as the program takes tags."""
    return [word for tag in tags or () for word in ("--tag", f"{tag['Key']}={tag['Value']}")]


def listed(
    rows: Iterable[Any],
    time_of: Callable[[Any], datetime],
    name_of: Callable[[Any], str],
    make: Callable[[Any], _Entity],
    *,
    created_after: datetime | None,
    created_before: datetime | None,
    sort_by: str | None,
    sort_order: str | None,
) -> Iterator[_Entity]:
    """Those of `rows` that were created in between, in order: the newest first unless told otherwise.

    Raises:
        ValueError: an order that is none.
    """
    order, key = sort_order or "Descending", sort_by or "CreationTime"
    if order not in _ORDERS or key not in ("CreationTime", "Name"):
        raise ValueError(f"expected sort_by CreationTime or Name and an order of {_ORDERS}, found {key!r}, {order!r}")
    within = [
        row
        for row in rows
        if (created_after is None or time_of(row) > created_after)
        and (created_before is None or time_of(row) < created_before)
    ]
    within.sort(key=time_of if key == "CreationTime" else name_of, reverse=order == "Descending")
    return iter([make(row) for row in within])
