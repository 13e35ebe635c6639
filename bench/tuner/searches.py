"""A search, ours or Optuna's: who asks gets values, reports costs and is told whether to go on."""
import json
import subprocess
import warnings
from collections.abc import Mapping
from typing import Any, Protocol

import optuna

Parameters = dict[str, dict[str, Any]]


class Search(Protocol):
    def ask(self) -> tuple[Any, Mapping[str, Any]] | None:
        """A trial and its values; None where no values are left."""

    def report(self, trial: Any, step: int, cost: float) -> bool:
        """Whether the trial has been pruned by that."""

    def end(self, trial: Any, cost: float) -> None: ...
    def close(self) -> None: ...


class OurSearch:
    """By `search_tool --ask`."""

    def __init__(self, tool: str, parameters: Parameters, sampler: str, pruner: str, seed: int) -> None:
        self.program = subprocess.Popen([tool, "--ask"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer({"name": "search", "parameters": parameters, "metrics": {"cost": {"goal": "minimize"}},
                     "sampler": sampler, "pruner": pruner, "seed": seed})

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        assert self.program.stdin and self.program.stdout
        self.program.stdin.write(json.dumps(question) + "\n")
        self.program.stdin.flush()
        line = self.program.stdout.readline()
        if not line:
            raise RuntimeError(f"search_tool has ended at {question}; what it said is above")
        return json.loads(line)

    def ask(self) -> tuple[Any, Mapping[str, Any]] | None:
        answer = self.answer({"ask": True})
        return None if "end" in answer else (answer["trial"], answer["values"])

    def report(self, trial: Any, step: int, cost: float) -> bool:
        return bool(self.answer({"trial": trial, "step": step, "value": cost})["prune"])

    def end(self, trial: Any, cost: float) -> None:
        self.answer({"trial": trial, "value": cost})

    def close(self) -> None:
        self.program.communicate()


class OptunaSearch:
    def __init__(self, parameters: Parameters, sampler: str, pruner: str, seed: int, epochs: int) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.simplefilter("ignore")
        self.parameters = parameters
        self.study = optuna.create_study(sampler=optuna_sampler(sampler, seed), pruner=optuna_pruner(pruner, epochs))

    def ask(self) -> tuple[Any, Mapping[str, Any]] | None:
        trial = self.study.ask()
        values: dict[str, Any] = {}
        for name, each in self.parameters.items():
            if all(values.get(parent) in choices for parent, choices in each.get("when", {}).items()):
                values[name] = suggested(trial, name, each)
        return trial, values

    def report(self, trial: Any, step: int, cost: float) -> bool:
        trial.report(cost, step)
        if not trial.should_prune():
            return False
        self.study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        return True

    def end(self, trial: Any, cost: float) -> None:
        self.study.tell(trial, cost)

    def close(self) -> None:
        pass


def optuna_sampler(name: str, seed: int) -> optuna.samplers.BaseSampler:
    if name == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    if name == "tpe":
        return optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True)
    import torch
    torch.set_num_threads(1)
    return optuna.samplers.GPSampler(seed=seed)


def optuna_pruner(name: str, epochs: int) -> optuna.pruners.BasePruner:
    if name == "hyperband":
        return optuna.pruners.HyperbandPruner(min_resource=1, max_resource=epochs, reduction_factor=3)
    return optuna.pruners.NopPruner()


def suggested(trial: optuna.Trial, name: str, parameter: Mapping[str, Any]) -> Any:
    if "choices" in parameter:
        return trial.suggest_categorical(name, parameter["choices"])
    low, high, log = parameter["min"], parameter["max"], parameter.get("log", False)
    if isinstance(low, int) and isinstance(high, int):
        return trial.suggest_int(name, low, high, log=log)
    return trial.suggest_float(name, low, high, log=log)
