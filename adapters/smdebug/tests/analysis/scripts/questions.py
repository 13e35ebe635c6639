"""Asks a trial many things and prints the answers as JSON. Runs under any package that is called smdebug.

python questions.py FOLDER
"""

import hashlib
import json
import sys

import numpy as np

from smdebug import modes
from smdebug.trials import create_trial

MODES = [modes.GLOBAL, modes.TRAIN, modes.EVAL, modes.PREDICT]


def plain(answer):
    """What JSON can hold. The dtype of a single number does not count, that of an array does."""
    if isinstance(answer, np.ndarray) and answer.size > 50:
        return [answer.dtype.str, answer.shape, hashlib.sha256(answer.tobytes()).hexdigest()]
    if isinstance(answer, np.ndarray) and answer.ndim > 0:
        return [answer.dtype.kind, answer.dtype.itemsize if answer.dtype.kind != "U" else 0, answer.tolist()]
    if isinstance(answer, (np.ndarray, np.generic)):
        return answer.item()
    if isinstance(answer, modes):
        return answer.name
    if isinstance(answer, dict):
        return sorted([plain(key), plain(value)] for key, value in answer.items())
    if isinstance(answer, (list, tuple, type({}.keys()))):
        return [plain(part) for part in answer]
    return answer if answer is None or isinstance(answer, (int, float, str)) else repr(answer)


class Questions:
    def __init__(self):
        self.answers = {}

    def ask(self, words, question):
        try:
            self.answers[words] = plain(question())
        except Exception as error:
            self.answers[words] = "raises " + type(error).__name__

    def about_trial(self, trial):
        steps = [*range(-1, 14)]
        self.ask("modes", trial.modes)
        self.ask("workers", trial.workers)
        self.ask("num_workers", lambda: trial.num_workers)
        self.ask("names", trial.tensor_names)
        self.ask("both", lambda: trial.tensor_names(regex="a", collection="b"))
        self.ask("unknown tensor", lambda: trial.tensor("no such tensor"))
        for mode in MODES:
            self.ask(f"steps {mode}", lambda: trial.steps(mode))
            self.ask(f"names {mode}", lambda: trial.tensor_names(mode=mode))
            for step in steps:
                self.ask(f"passed {step} {mode}", lambda: trial.has_passed_step(step, mode))
                self.ask(f"global {step} {mode}", lambda: trial.global_step(mode, step))
                self.ask(f"names {step} {mode}", lambda: trial.tensor_names(step=step, mode=mode))
                self.ask(f"wait {step} {mode}", lambda: trial.wait_for_steps([step], mode))
        for step in steps:
            self.ask(f"mode_modestep {step}", lambda: trial.mode_modestep(step))
        for pattern in (".*", "^gradient", "weight$", ["bias", "relu"], "nothing", "conv[12]_output_0"):
            self.ask(f"regex {pattern}", lambda: trial.tensor_names(regex=pattern))
        for name in trial.collections():
            self.about_collection(trial.collection(name))
            self.ask(f"collection {name}", lambda: trial.tensor_names(collection=name))
            self.ask(f"collection object {name}", lambda: trial.tensor_names(collection=trial.collection(name)))

    def about_collection(self, collection):
        described = collection.to_json_dict()
        del described["tensor_names"]  # in smdebug those that were known when the training began; here all
        self.ask(f"collection {collection.name} described", lambda: json.dumps(described, sort_keys=True))

    def about_tensor(self, trial, name):
        tensor = trial.tensor(name)
        self.ask(f"{name} original name", lambda: tensor.original_name)
        for mode in MODES:
            self.ask(f"{name} prev {mode}", lambda: tensor.prev_steps(5, 2, mode))
            self.ask(f"{name} values {mode}", lambda: tensor.values(mode))
        # smdebug compares steps of a mode with global steps here, so that one may be missing while a run is written
        for mode in MODES:
            self.ask(f"{name} steps {mode}", lambda: tensor.steps(mode, show_incomplete_steps=True))
        for step in range(14):
            for mode in MODES:
                self.ask(f"{name} value {step} {mode}", lambda: tensor.value(step, mode))
                self.ask(f"{name} shape {step} {mode}", lambda: tensor.shape(step, mode))
                self.ask(f"{name} saved {step} {mode}", lambda: tensor.reduction_values(step, mode))
            self.ask(f"{name} workers {step}", lambda: tensor.workers(step))
            self.ask(f"{name} worker {step}", lambda: tensor.value(step, worker="worker_7"))
            for reduction in ("min", "max", "median"):
                self.ask(f"{name} {reduction} {step}", lambda: tensor.reduction_value(step, reduction, abs=True))


def main():
    trial = create_trial(sys.argv[1])
    questions = Questions()
    questions.about_trial(trial)
    for name in trial.tensor_names():
        questions.about_tensor(trial, name)
    print("\n" + json.dumps(questions.answers))


if __name__ == "__main__":
    main()
