"""A training that logs: by trainwarden.log, and by classes that pass for those of transformers and accelerate."""

import importlib.machinery
import sys
import types

import numpy as np
import torch
from torch import nn

import trainwarden

SOURCES = {
    "transformers.trainer": """
class State:
    def __init__(self):
        self.log_history = []
        self.global_step = 0

class Trainer:
    def __init__(self, tracker):
        self.state, self.tracker = State(), tracker

    def log(self, logs, start_time=None):
        self.state.log_history.append({**logs, "step": self.state.global_step})
        self.tracker.log({"train/" + name: value for name, value in logs.items()}, step=self.state.global_step)
""",
    "accelerate.accelerator": """
class Accelerator:
    def log(self, values, step=None, log_kwargs=None):
        pass
""",
}


class Finder:
    """Finds the two modules, as if they were installed."""

    def find_spec(self, name, path=None, target=None):
        package = name in {each.split(".")[0] for each in SOURCES}
        if package or name in SOURCES:
            return importlib.machinery.ModuleSpec(name, self, is_package=package)
        return None

    def create_module(self, spec):
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        exec(SOURCES.get(module.__name__, ""), module.__dict__)


def main():
    sys.meta_path.insert(sys.meta_path.index(importlib.machinery.PathFinder), Finder())
    from accelerate.accelerator import Accelerator
    from transformers.trainer import Trainer

    tracker = Accelerator()
    trainer = Trainer(tracker)
    torch.manual_seed(1)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD([{"params": [model.weight], "lr": 0.1}, {"params": [model.bias], "lr": 0.2}])
    for step in range(4):
        optimizer.zero_grad()
        loss = model(torch.randn(4, 3)).pow(2).mean()
        loss.backward()
        optimizer.step()
        trainer.state.global_step += 1
        trainer.log({"loss": loss.item(), "grad_norm": 0.5, "phase": "train"})
        tracker.log({"beside": step}, step=10 * step)
        trainwarden.log("accuracy", torch.tensor(step / 4), step=step)
        trainwarden.log("score", np.float32(step))
        trainwarden.log("words", "none")
        print(step, loss.item())


if __name__ == "__main__":
    main()
