"""Runs a program under a rival, as the program's author would have put the rival's few lines into it.

    python watch.py RIVAL MESSAGES.json PROGRAM.py

A rival is given what its documentation asks for: the model when it is first called for training, the optimizer of its
parameters, and then in each step the loss, the loss of an evaluation since the last step, the learning rate and the norm
of the gradients. What it says is written as a list of {code, severity, step, text}, also when the program fails.
"""

from __future__ import annotations

import functools
import json
import re
import runpy
import sys
from pathlib import Path
from typing import Any, Callable

import torch
import torch.nn.functional as functional

MOST_MODELS = 8  # some programs make a model in each step, and a user would not watch all of them
LOSSES = ("cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
          "binary_cross_entropy_with_logits", "kl_div", "ctc_loss", "cosine_embedding_loss", "triplet_margin_loss", "gaussian_nll_loss",
          "poisson_nll_loss", "hinge_embedding_loss", "margin_ranking_loss")  # fmt: skip


def message(code: str, severity: str, step: int | None, text: str) -> dict[str, Any]:
    return {"code": code, "severity": severity, "step": step, "text": text[:400]}


class Rival:
    """Does nothing; each rival overrides what it needs. One for each model."""

    def __init__(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer | None, known: list[torch.optim.Optimizer]) -> None:
        self.model, self.optimizer, self.known = model, optimizer, known

    def before_step(self, step: int, loss: float, evaluated: float | None) -> None:
        """After backward(), before the optimizer's step."""

    def after_step(self, step: int, loss: float) -> None:
        """After the optimizer's step."""

    def messages(self) -> list[dict[str, Any]]:
        """All that it has to say at the end."""
        return []


class Anomaly(Rival):
    """PyTorch's own; it speaks by the error that ends the program."""


class Torchmortem(Rival):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        from torchmortem import Autopsy

        self.autopsy = Autopsy(self.model, optimizer=self.optimizer)
        self.autopsy.attach()

    def after_step(self, step: int, loss: float) -> None:
        self.autopsy.step(loss=loss)

    def messages(self) -> list[dict[str, Any]]:
        self.autopsy.detach()
        report = self.autopsy.get_report()
        told = [message(each.title, "WARNING", None, each.summary) for each in report.insights]
        for each in report.findings:
            step = each.step_range[0] if each.step_range else None
            told.append(message(each.title.split(" in ")[0], each.severity.name, step, each.summary))
        return told


class TorchAudit(Rival):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        from torch_audit import autopatch

        self.auditor = autopatch(self.model, optimizer=self.optimizer, every_n_steps=1, reporters=[], suppress_internal_errors=True)

    def messages(self) -> list[dict[str, Any]]:
        findings = self.auditor.finish(report=False).findings
        return [message(each.rule_id, each.severity.value, each.step, each.message) for each in findings]


class Gradsnitch(Rival):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        import gradsnitch

        self.monitor = gradsnitch.watch(self.model, self.optimizer)

    def before_step(self, step: int, loss: float, evaluated: float | None) -> None:
        self.monitor.log(step, loss, val_loss=evaluated)

    def messages(self) -> list[dict[str, Any]]:
        told = []
        for each in self.monitor.report() if self.monitor.rows else []:
            side = " high" if "too high" in each.name else " low"
            step = re.search(r"step (\d+)", each.evidence)
            code = each.code + (side if each.code == "GS008" else "")
            told.append(message(code, each.severity, int(step[1]) if step else None, f"{each.name}: {each.evidence}"))
        return told


class TrainingDoctor(Rival):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        from training_doctor import Doctor

        self.doctor = Doctor()

    def before_step(self, step: int, loss: float, evaluated: float | None) -> None:
        told = {"loss": loss, "grad_norm": gradient_norm(self.model)}
        if self.optimizer is not None:
            told["lr"] = float(self.optimizer.param_groups[0]["lr"])
        if evaluated is not None:
            told["eval_loss"] = evaluated
        self.doctor.log(step=step, **told)

    def messages(self) -> list[dict[str, Any]]:
        return [message(each.problem, each.severity.value, each.step, each.explanation) for each in self.doctor.diagnoses]


class Torcheck(Rival):
    """Speaks by the error that ends the program."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        import torcheck

        if self.optimizer is None:
            return
        for optimizer in self.known:
            if optimizer not in getattr(Torcheck, "registered", []):
                Torcheck.registered = [*getattr(Torcheck, "registered", []), optimizer]
                torcheck.register(optimizer)
        torcheck.add_module_changing_check(self.model, module_name="model")
        for name, parameter in self.model.named_parameters():  # its checks of a whole model fail on one that returns a tuple
            torcheck.add_tensor_nan_check(parameter, name, module_name="model")
            torcheck.add_tensor_inf_check(parameter, name, module_name="model")


RIVALS: dict[str, type[Rival]] = {
    "anomaly": Anomaly,
    "torchmortem": Torchmortem,
    "torch-audit": TorchAudit,
    "gradsnitch": Gradsnitch,
    "training-doctor": TrainingDoctor,
    "torcheck": Torcheck,
}

# What errors that end a program are the verdict of, and which code they get.
ERRORS = {
    "anomaly": [(r"returned nan values", "nan in backward")],
    "torcheck": [
        (r"should change", "should change"),
        (r"contains NaN", "contains NaN"),
        (r"contains inf", "contains inf"),
        (r"doesn't belong to any optimizer", "not in an optimizer"),
    ],
}


def gradient_norm(model: torch.nn.Module) -> float:
    squares = [float(each.grad.detach().norm()) ** 2 for each in model.parameters() if each.grad is not None]
    return sum(squares) ** 0.5


class Watch:
    """Finds the models and optimizers of a program, and hands them and its losses to a rival for each model."""

    def __init__(self, rival: type[Rival]) -> None:
        self.rival = rival
        self.optimizers: list[torch.optim.Optimizer] = []
        self.watched: dict[int, Rival] = {}
        self.steps: dict[int, int] = {}
        self.depth = 0
        self.loss = float("nan")
        self.evaluated: list[float] = []
        self.inside = False  # the rival is at work: what it calls is not the program

    def install(self) -> None:
        torch.nn.Module.__call__ = self._called(torch.nn.Module.__call__)
        torch.Tensor.backward = self._backward(torch.Tensor.backward)
        torch.optim.Optimizer.__init__ = self._made(torch.optim.Optimizer.__init__)
        for name in LOSSES:
            setattr(functional, name, self._evaluating(getattr(functional, name)))

    def messages(self) -> list[dict[str, Any]]:
        self.inside = True
        told = []
        for rival in self.watched.values():
            told.extend(rival.messages())
        return told

    def _called(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(module: torch.nn.Module, *arguments: Any, **named: Any) -> Any:
            if self.depth == 0 and not self.inside and torch.is_grad_enabled():
                self._meet(module)
            self.depth += 1
            try:
                return original(module, *arguments, **named)
            finally:
                self.depth -= 1

        return call

    def _meet(self, model: torch.nn.Module) -> None:
        if id(model) in self.watched or len(self.watched) >= MOST_MODELS or next(model.parameters(), None) is None:
            return
        if not self.optimizers:  # called before the training begins
            return
        self.inside = True
        self.watched[id(model)] = Rival(model, None, [])  # one that cannot be attached is not tried again
        self.watched[id(model)] = self.rival(model, self._optimizer_of(model), self.optimizers)
        self.inside = False

    def _optimizer_of(self, model: torch.nn.Module) -> torch.optim.Optimizer | None:
        """The last one with parameters of the model; the last one at all if there is none."""
        own = {id(each) for each in model.parameters()}
        for optimizer in reversed(self.optimizers):
            if any(id(each) in own for group in optimizer.param_groups for each in group["params"]):
                return optimizer
        return self.optimizers[-1] if self.optimizers else None

    def _backward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def backward(loss: torch.Tensor, *arguments: Any, **named: Any) -> Any:
            if loss.numel() == 1:
                self.loss = float(loss.detach())
            return original(loss, *arguments, **named)

        return backward

    def _evaluating(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def evaluate(*arguments: Any, **named: Any) -> Any:
            loss = original(*arguments, **named)
            if not self.inside and not torch.is_grad_enabled() and isinstance(loss, torch.Tensor) and loss.numel() == 1:
                self.evaluated.append(float(loss))
            return loss

        return evaluate

    def _made(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def make(optimizer: torch.optim.Optimizer, *arguments: Any, **named: Any) -> None:
            kind = type(optimizer)
            original(optimizer, *arguments, **named)
            if not hasattr(kind.step, "is_watched"):
                kind.step = self._stepping(kind.step)
            self.optimizers.append(optimizer)

        return make

    def _stepping(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def step(optimizer: torch.optim.Optimizer, *arguments: Any, **named: Any) -> Any:
            rivals = self._rivals_of(optimizer)
            evaluated = sum(self.evaluated) / len(self.evaluated) if self.evaluated else None
            self.evaluated = []
            for key, rival in rivals:
                self.steps[key] = self.steps.get(key, -1) + 1
                self._tell(rival.before_step, self.steps[key], self.loss, evaluated)
            result = original(optimizer, *arguments, **named)
            for key, rival in rivals:
                self._tell(rival.after_step, self.steps[key], self.loss)
            return result

        step.is_watched = True  # type: ignore[attr-defined]
        return step

    def _rivals_of(self, optimizer: torch.optim.Optimizer) -> list[tuple[int, Rival]]:
        """Those of models that this optimizer trains; all when it is of no model."""
        own = {id(each) for group in optimizer.param_groups for each in group["params"]}
        trained = [(key, each) for key, each in self.watched.items() if any(id(one) in own for one in each.model.parameters())]
        return trained or list(self.watched.items())

    def _tell(self, called: Callable[..., None], *arguments: Any) -> None:
        self.inside = True
        try:
            called(*arguments)
        finally:
            self.inside = False


def verdict_of(error: BaseException, name: str, step: int) -> list[dict[str, Any]]:
    return [message(code, "error", step, str(error)) for pattern, code in ERRORS.get(name, []) if re.search(pattern, str(error))]


def main() -> None:
    name, output, program = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    watch = Watch(RIVALS[name])
    watch.install()
    if name == "anomaly":
        torch.autograd.set_detect_anomaly(True)
    sys.argv = [program]
    told: list[dict[str, Any]] = []
    failure = ""
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit:
        pass
    except BaseException as error:
        failure = f"{type(error).__name__}: {error}"[:400]
        told = verdict_of(error, name, max(watch.steps.values(), default=0))
    try:
        told.extend(watch.messages())
    except Exception as error:
        failure += f" {name} failed at the end: {type(error).__name__}: {error}"[:400]
    output.write_text(json.dumps({"messages": told, "failure": failure, "models": len(watch.watched)}))


if __name__ == "__main__":
    main()
