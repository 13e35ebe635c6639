"""What came of a model: the best of its study, against what was asked for."""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Optional

LATEST = "latest_hydro_model"


@dataclass
class HydroModel:
    """The best model so far, as snapshot() gives it.

    Attributes:
        model_type: its name, in lower case.
        model: the folder of the best trial; empty: there is none yet.
        metrics: those of the best trial.
        model_parameters: the values of the best trial.
        study: the study with all trials; empty: there is none yet. `trainwarden study show STUDY` shows it.
        studies: the folder with that study.
        verdict: whether the target was met, for people.
        target_met: the same; None: no target was set.
        against_target: of each metric with a threshold what was found, and what is missing.
        what_mattered: how much each parameter mattered, with how sure that is; empty where nothing was searched.
        advice: what to try next, a line each.
        model_params: the settings.
        sigopt_experiment_id: None where nothing was searched, else the study.
    """

    model_type: str
    model: str = ""
    metrics: dict[str, float] = field(default_factory=dict)
    model_parameters: dict[str, Any] = field(default_factory=dict)
    study: str = ""
    studies: str = ""
    verdict: str = "No training was launched yet"
    target_met: Optional[bool] = None
    against_target: list[str] = field(default_factory=list)
    what_mattered: list[str] = field(default_factory=list)
    advice: str = ""
    model_params: dict[str, Any] = field(default_factory=dict)
    sigopt_experiment_id: Optional[str] = None

    def explain(self) -> None:
        """Prints whether the target was met, the best model, what mattered, and what to try next."""
        print(f"{self.verdict}.")
        if self.model and self.target_met is not False:
            print("We found the best model! Here is the model explaination")
        print("\n***    Best Trained Model    ***")
        print(f"  Model Type: {self.model_type}")
        print(f"  Model Saved Path: {self.model}")
        print(f"  Sigopt Experiment id is {self.sigopt_experiment_id}")
        print("  === Result Metrics ===")
        for name, value in self.metrics.items():
            print(f"    {name}: {value}")
        if self.model_parameters:
            print("  === Parameters ===")
        for name, value in self.model_parameters.items():
            print(f"    {name}: {value}")
        _print_lines("Against the Target", self.against_target)
        _print_lines("What Mattered", self.what_mattered)
        if self.advice:
            print(self.advice)

    def to_json(self) -> str:
        """All of it, as a JSON object."""
        return json.dumps(asdict(self), indent=2, default=str)

    def save(self, folder: Path) -> None:
        """As `latest_hydro_model` in this folder; appears whole."""
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{LATEST}.{uuid.uuid4().hex}"
        temporary.write_text(self.to_json(), encoding="utf-8")
        os.replace(temporary, folder / LATEST)


def _print_lines(title: str, lines: list[str]) -> None:
    if lines:
        print(f"  === {title} ===")
    for line in lines:
        print(f"    {line}")


def load(folder: Path, model_type: str) -> Optional[HydroModel]:
    """What save() has left; None when there is nothing of this model, or nothing that can be read."""
    try:
        said = json.loads((folder / LATEST).read_text(encoding="utf-8"))
        model = HydroModel(**said)
    except (OSError, ValueError, TypeError):
        return None
    return model if model.model_type == model_type else None
