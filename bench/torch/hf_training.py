"""A small GPT-2 in the Trainer of transformers, a block of steps at a time as its parent, budget_bench.py, asks for.

Reads lines of "watched" or "alone" and a number of steps, and prints for each what training.py prints in its place.
"""

from __future__ import annotations

import sys
import tempfile
from typing import Any, TextIO

import torch
from switching import CLOCKS, Switch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments


class Tokens(torch.utils.data.Dataset):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 1 << 16

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        tokens = torch.arange(index % 50, index % 50 + 32)
        return {"input_ids": tokens, "labels": tokens}


class Blocks(TrainerCallback):
    """Trains what is asked for, and ends the training when nobody asks any more."""

    def __init__(self, answers: TextIO) -> None:
        self.answers = answers
        self.switch: Any = None
        self.left = 0
        self.begins: list[int] = []

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.switch = Switch(torch.optim.AdamW, [Trainer])
        self._next(control)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.left -= 1
        if self.left > 0 and self.begins:
            return
        if not self.begins:  # the step in which Python has looked the functions up anew
            self.begins = [clock() for clock in CLOCKS]
            return
        print(*(clock() - begin for clock, begin in zip(CLOCKS, self.begins)), file=self.answers, flush=True)
        self._next(control)

    def _next(self, control: Any) -> None:
        line = sys.stdin.readline()
        if not line:
            control.should_training_stop = True
            return
        word, steps = line.split()
        self.switch.turn(on=word == "watched")
        self.left, self.begins = int(steps) + 1, []


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # what the Trainer prints is not for the parent
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=100, n_positions=32, n_embd=64, n_layer=2, n_head=2))
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder, per_device_train_batch_size=16, max_steps=1 << 24, logging_steps=50, save_strategy="no",
            report_to=[], use_cpu=True, disable_tqdm=True, log_level="error",
        )  # fmt: skip
        trainer = Trainer(model, arguments, train_dataset=Tokens(), callbacks=[Blocks(answers)])
        trainer.train()


if __name__ == "__main__":
    main()
