"""Reads folders of smdebug's with smdebug itself, all of each, into FOLDER.npz and FOLDER.json.

    PYTHON read_original.py FOLDER...
"""

from __future__ import annotations

import json
import sys

import numpy as np
from smdebug import modes
from smdebug.exceptions import SMDebugError
from smdebug.trials import create_trial


def read(folder):
    trial = create_trial(folder)
    values, told = {}, {"tensors": {}, "collections": {}, "steps": []}
    for step in trial.steps():
        mode, mode_step = trial.mode_modestep(step)
        told["steps"].append([step, mode.name if mode else "GLOBAL", mode_step])
    for name in trial.tensor_names():
        tensor = trial.tensor(name)
        told["tensors"][name] = {}
        for step in tensor.steps():
            seen = told["tensors"][name][str(step)] = {"reductions": []}
            try:
                values[f"{name} @{step}"] = tensor.value(step)
            except SMDebugError:
                pass
            try:
                seen["shape"] = list(tensor.shape(step))
            except SMDebugError:
                pass
            for (reduction, is_abs), value in tensor.reduction_values(step, modes.GLOBAL).items():
                seen["reductions"].append([reduction, is_abs, float(np.ravel(value)[0])])
    for name in trial.collections():
        told["collections"][name] = trial.tensor_names(collection=name)
    np.savez(folder + ".npz", **values)
    with open(folder + ".json", "w") as file:
        json.dump(told, file)


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        read(folder)
