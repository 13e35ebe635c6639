"""Half precision with dynamic loss scaling, by hand: PyTorch 1.13 scales losses on a GPU only.

A linear regression whose gradients are rounded to float16, as the backward pass of a half precision model rounds them.
With --fault the targets grow until no scale keeps the gradients finite. The scale and the steps that are left out are
told by the program itself, under the names of docs/format/signals.md.

rule: AmpOverflow
within: 150
names: left out \\d+ steps in a row
"""

import sys

import numpy as np

import trainwarden


def gradient_in_half(inputs, errors, scale):
    """Of half the mean squared error, times the scale."""
    with np.errstate(over="ignore", invalid="ignore"):
        return (inputs.T @ (errors * scale / len(inputs))).astype(np.float16).astype(np.float64)


def main(fault):
    random = np.random.default_rng(6)
    truth, weights = random.normal(size=8), np.zeros(8)
    scale, good_steps = 65536.0, 0
    with trainwarden.Hook.from_environment() as hook:
        hook.set_mode("train")
        hook.declare("loss", ["losses"])
        for name in ("trainwarden/amp/scale", "trainwarden/amp/skipped"):
            hook.declare(name, ["signals"])
        for step in range(300):
            inputs = random.normal(size=(64, 8))
            growth = 10.0 ** (step - 120) if fault and step > 120 else 1.0
            errors = inputs @ weights - (inputs @ truth) * min(growth, 1e12)
            gradient = gradient_in_half(inputs, errors, scale)
            is_finite = bool(np.isfinite(gradient).all())
            if is_finite:
                weights -= 0.1 * gradient / scale
            hook.save_scalar("loss", float(np.mean(errors**2) / 2))
            hook.save_scalar("trainwarden/amp/scale", scale)
            hook.save_scalar("trainwarden/amp/skipped", 0.0 if is_finite else 1.0)
            hook.step()
            good_steps = good_steps + 1 if is_finite else 0
            if not is_finite:
                scale /= 2
            elif good_steps % 100 == 0:
                scale *= 2


if __name__ == "__main__":
    main("--fault" in sys.argv)
