"""The place of this process among those that train one model together."""

from __future__ import annotations

from typing import Optional


def rank_and_size() -> Optional[tuple[int, int]]:
    """As XGBoost's collective says, which was called rabit before 1.7; None when it trains alone."""
    try:
        from xgboost import collective
    except ImportError:
        from xgboost import rabit as collective
    size = collective.get_world_size()
    return (collective.get_rank(), size) if size > 1 else None
