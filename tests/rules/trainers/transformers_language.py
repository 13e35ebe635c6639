"""A small GPT-2 that answers prompts, with Trainer of transformers. Only the answers count in the loss.

Faults: a learning rate of 1 where 1e-3 was meant; samples are cut so short that no answer is left in some batches.

fault huge-learning-rate: Divergence, LossDrift, LossSpike, GradientSpike, NonFiniteOrigin, ExplodingTensor
fault non-finite: NonFiniteOrigin, ExplodingTensor
"""

import argparse

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

IGNORED = -100
WORDS = 48
END = WORDS


class Prompts(torch.utils.data.Dataset):
    """A prompt of random length and its answer: the prompt's last word and the eleven after it in the vocabulary."""

    def __init__(self, size, longest, seed):
        generator = torch.Generator().manual_seed(seed)
        lengths = torch.randint(6, 40, (size,), generator=generator)
        self.prompts = [torch.randint(0, WORDS, (int(length),), generator=generator) for length in lengths]
        self.longest = longest

    def __len__(self):
        return len(self.prompts)

    def __getitem__(self, index):
        prompt = self.prompts[index]
        answer = torch.cat([(prompt[-1] + torch.arange(12)) % WORDS, torch.tensor([END])])
        tokens = torch.cat([prompt, answer])
        labels = torch.cat([torch.full_like(prompt, IGNORED), answer])
        return {"input_ids": tokens[: self.longest], "labels": labels[: self.longest]}


def collate(samples):
    tokens = [sample["input_ids"] for sample in samples]
    return {
        "input_ids": pad_sequence(tokens, batch_first=True, padding_value=END),
        "labels": pad_sequence([sample["labels"] for sample in samples], batch_first=True, padding_value=IGNORED),
        "attention_mask": pad_sequence([torch.ones_like(each) for each in tokens], batch_first=True),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=["huge-learning-rate", "non-finite"])
    fault = parser.parse_args().fault
    set_seed(0)
    longest = 16 if fault == "non-finite" else 64
    model = GPT2LMHeadModel(GPT2Config(vocab_size=WORDS + 1, n_positions=64, n_embd=64, n_layer=3, n_head=4))
    trainer = Trainer(
        model,
        TrainingArguments(
            "out/transformers_language",
            per_device_train_batch_size=4,
            learning_rate=1.0 if fault == "huge-learning-rate" else 1e-3,
            warmup_steps=30,
            num_train_epochs=2,
            eval_strategy="epoch",
            save_strategy="epoch",
            logging_steps=20,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        ),
        data_collator=collate,
        train_dataset=Prompts(1000, longest, seed=1),
        eval_dataset=Prompts(64, longest, seed=2),
    )
    trainer.train()


if __name__ == "__main__":
    main()
