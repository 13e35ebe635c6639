"""Names of the signals of learning rates."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from trainwarden.torch import signals


def test_an_optimizer_of_another_kind_has_rates_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it has got the id of one that is gone."""
    monkeypatch.setattr(signals, "id", lambda thing: 7, raising=False)
    named = signals.Signals._rate_of
    known: Any = SimpleNamespace(_groups={})
    weight = torch.zeros(2, requires_grad=True)
    adam, lbfgs = torch.optim.Adam([weight]), torch.optim.LBFGS([weight])
    names = [named(known, each, 0) for each in (adam, lbfgs, torch.optim.Adam([weight]))]
    assert names == ["learning_rate/0", "learning_rate/1", "learning_rate/0"]
