"""Trains a small GPT-2 with the Trainer of transformers. Nothing is downloaded."""

import argparse
import json

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Counting(torch.utils.data.Dataset):
    """Sequences that count up from a random number."""

    def __init__(self, size):
        self.first = torch.randint(0, 40, (size,), generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.first)

    def __getitem__(self, index):
        tokens = self.first[index] + torch.arange(8)
        return {"input_ids": tokens, "labels": tokens}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--out", default="out")
    parser.add_argument("--resume", help="a checkpoint")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=16, n_embd=32, n_layer=2, n_head=2))
    trainer = Trainer(
        model,
        TrainingArguments(
            arguments.out,
            per_device_train_batch_size=4,
            gradient_accumulation_steps=arguments.accumulate,
            learning_rate=1e-2,
            max_steps=arguments.steps,
            eval_strategy="steps",
            eval_steps=20,
            save_steps=1000,
            logging_steps=1,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        ),
        train_dataset=Counting(800),
        eval_dataset=Counting(16),
    )
    trainer.train(resume_from_checkpoint=arguments.resume)
    trainer.save_model(arguments.out)
    with open(f"{arguments.out}/log.json", "w") as file:
        json.dump(trainer.state.log_history, file)


if __name__ == "__main__":
    main()
