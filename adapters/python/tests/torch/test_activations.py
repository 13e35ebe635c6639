"""How much of what modules give a step has."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

import trainwarden
from trainwarden.torch import watch

_CALLS = 70
_CUT = "cell_output_64 and what follows in the step, as capture has a budget"


class Loop(nn.Module):
    """A cell that is called for each element of a sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.Linear(3, 3)

    def forward(self, state: torch.Tensor) -> torch.Tensor:
        for _ in range(_CALLS):
            state = self.cell(state)
        return state


@pytest.mark.parametrize("budget, kept", [(0.9, 64), (0.0, _CALLS)])
def test_under_a_budget_a_step_has_so_many_calls_of_a_module(budget: float, kept: int, tmp_path: Path) -> None:
    model = Loop()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with trainwarden.Hook(tmp_path / "run", include_collections=["outputs", "losses"], budget=budget) as hook:
        with watch(hook, model, optimizer) as watcher:
            for _ in range(2):
                optimizer.zero_grad()
                model(torch.ones(3)).sum().backward()
                optimizer.step()
                watcher.step()
    trial = trainwarden.open(tmp_path / "run")
    outputs = [name for name in trial.tensor_names(collection="outputs") if name.startswith("cell_output_")]
    assert len(outputs) == kept
    said = trial.tensor("trainwarden/not_captured").value(0) if budget > 0.0 else []
    assert list(said) == ([_CUT] if budget > 0.0 else [])
