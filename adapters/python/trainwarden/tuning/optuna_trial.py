"""What objectives for Optuna ask of a trial beside what Trial has."""

from __future__ import annotations

from typing import Any, Optional


class OptunaTrialNames:
    """The names that Optuna has kept from before; Trial has the rest."""

    def suggest_uniform(self, name: str, low: float, high: float) -> float:
        return self.suggest_float(name, low, high)

    def suggest_loguniform(self, name: str, low: float, high: float) -> float:
        return self.suggest_float(name, low, high, log=True)

    def suggest_discrete_uniform(self, name: str, low: float, high: float, q: float) -> float:
        return self.suggest_float(name, low, high, step=q)

    def suggest_float(
        self, name: str, low: float, high: float, *, step: Optional[float] = None, log: bool = False
    ) -> float:
        raise NotImplementedError

    @property
    def system_attrs(self) -> dict[str, Any]:
        """Empty: nothing of Optuna's own is kept."""
        return {}
