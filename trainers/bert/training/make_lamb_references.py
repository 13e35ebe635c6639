"""Writes lamb_references.json: weights after some of 50 steps of LAMB, as published packages compute them in float64.

    python make_lamb_references.py lamb_references.json

Each package wants a Python of its own, and each call replaces the entries of the packages that are there:
tensorflow-addons 0.23 (with tensorflow-cpu 2.14), timm, torch-optimizer. lamb_reference_test.cc makes the same weights
and gradients and compares our steps with the file.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, Callable, Iterator

STEPS = 50
KEPT = (1, 2, 10, STEPS)
SHAPES = {"layer.0.dense.weight": (5, 7), "layer.0.dense.bias": (5,), "layer.0.LayerNorm.weight": (5,),
          "zero.weight": (3,)}
NOT_ADAPTED = ("bias", "LayerNorm", "layer_norm")
Numbers = dict[str, list[float]]


def drawn(key: int) -> float:
    """A number in [-1, 1) that float32 holds exactly, from a key below 2^32."""
    return ((key * 2654435761 % 2**32) >> 16) / 2**15 - 1


def numbers(step: int, scale: float) -> Numbers:
    """Of all tensors: gradients of a step, or weights as step 0."""
    found = {}
    for place, (name, shape) in enumerate(SHAPES.items()):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        found[name] = [scale * drawn(step * 1009 + place * 97 + i + 1) for i in range(count)]
    return found


def start() -> Numbers:
    """The weights; those of one tensor are zero."""
    return numbers(0, 0.25) | {"zero.weight": [0.0] * 3}


def gradients(step: int) -> Numbers:
    """Large ones in every third step, so that a limit of their norm is met and missed."""
    return numbers(step, 1.0 if step % 3 == 0 else 2.0**-10)


def learning_rate(step: int) -> float:
    return 0.01 / step


def is_excluded(name: str) -> bool:
    return any(part in name for part in NOT_ADAPTED)


# Each trainer yields the weights after each step.
def tensorflow_addons(excluded: tuple[str, ...]) -> Iterator[Numbers]:
    import tensorflow as tf
    import tensorflow_addons as tfa

    variables = {name: tf.Variable(tf.reshape(tf.constant(values, tf.float64), SHAPES[name]), name=name)
                 for name, values in start().items()}
    lamb = tfa.optimizers.LAMB(weight_decay=0.01, exclude_from_weight_decay=list(excluded),
                               exclude_from_layer_adaptation=list(excluded))
    for step in range(1, STEPS + 1):
        lamb.learning_rate = learning_rate(step)
        given = gradients(step)
        lamb.apply_gradients((tf.reshape(tf.constant(given[name], tf.float64), SHAPES[name]), variable)
                             for name, variable in variables.items())
        yield {name: variable.numpy().ravel().tolist() for name, variable in variables.items()}


def of_pytorch(make: Callable[[list[dict[str, Any]]], Any], decay_all: bool) -> Iterator[Numbers]:
    import torch

    parameters = {name: torch.tensor(values, dtype=torch.float64).view(SHAPES[name]).requires_grad_()
                  for name, values in start().items()}
    with_decay = [p for name, p in parameters.items() if decay_all or not is_excluded(name)]
    without = [p for name, p in parameters.items() if not decay_all and is_excluded(name)]
    lamb = make([{"params": with_decay, "weight_decay": 0.01}] +
                ([{"params": without, "weight_decay": 0.0}] if without else []))
    for step in range(1, STEPS + 1):
        for group in lamb.param_groups:
            group["lr"] = learning_rate(step)
        given = gradients(step)
        for name, parameter in parameters.items():
            parameter.grad = torch.tensor(given[name], dtype=torch.float64).view(SHAPES[name])
        lamb.step()
        yield {name: parameter.detach().ravel().tolist() for name, parameter in parameters.items()}


def timm(decay_all: bool = False, **options: Any) -> Iterator[Numbers]:
    from timm.optim import Lamb

    return of_pytorch(lambda groups: Lamb(groups, **options), decay_all)


def torch_optimizer(**options: Any) -> Iterator[Numbers]:
    from torch_optimizer import Lamb

    return of_pytorch(lambda groups: Lamb(groups, **options), True)


# By package: the names that lamb_reference_test.cc gives its options.
VARIANTS: dict[str, dict[str, Callable[[], Iterator[Numbers]]]] = {
    "tensorflow-addons": {"TensorFlowAddons": lambda: tensorflow_addons(NOT_ADAPTED),
                          "TensorFlowAddonsNothingExcluded": lambda: tensorflow_addons(())},
    "timm": {"Timm": timm, "TimmAdaptsAll": lambda: timm(always_adapt=True),
             "TimmSumsAndLimitsTrust": lambda: timm(True, trust_clip=True, grad_averaging=False, max_grad_norm=None)},
    "torch-optimizer": {"TorchOptimizer": torch_optimizer,
                        "TorchOptimizerClamped": lambda: torch_optimizer(clamp_value=0.25)}}


def installed(package: str) -> str | None:
    """Its version."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def in_lines(references: dict[str, Any]) -> str:
    """JSON with each list of numbers, cut to 12 digits, in one line."""
    shortened = json.loads(json.dumps(references), parse_float=lambda digits: float(f"{float(digits):.12g}"))
    text = json.dumps(shortened, indent=1, sort_keys=True)
    return re.sub(r"\[[^\]]+\]", lambda found: re.sub(r"\s+", " ", found[0]), text) + "\n"


def main() -> None:
    """Fills the file anew with what the packages here give."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    file = Path(sys.argv[1])
    references = json.loads(file.read_text()) if file.exists() else {}
    for package, variants in VARIANTS.items():
        version = installed(package)
        if version is None:
            print(f"{package} is not here: its entries stay as they are")
            continue
        for name, steps in variants.items():
            kept = {str(step): weights for step, weights in enumerate(steps(), 1) if step in KEPT}
            references[name] = {"made_by": f"{package} {version}", "weights_after": kept}
            print(f"{name}: by {package} {version}")
    written = file.with_suffix(".new")
    written.write_text(in_lines(references))
    os.replace(written, file)


if __name__ == "__main__":
    main()
