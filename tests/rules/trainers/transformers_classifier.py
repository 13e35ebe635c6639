"""A small BERT that says what a text is about, with Trainer of transformers and its evaluation.

Faults: a schedule of one's own whose warm-up divides integers, so that the rate stays 0; an optimizer of one's own that
got the encoder without the head; samples in the order of the files that they came from, one for each class.

fault zero-learning-rate: LearningRateJump, NoOpUpdate
fault forgotten-parameter: ForgottenParameter, NoOpUpdate
fault sorted-labels: UnshuffledLabels
"""

import argparse

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

CLASSES = 3
WORDS = 300
LENGTH = 24
WARM_UP_STEPS = 500


class Texts(torch.utils.data.Dataset):
    """Random words, a third of them from the words of a class."""

    def __init__(self, size, seed, ordered=False):
        generator = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, CLASSES, (size,), generator=generator)
        if ordered:
            self.labels = self.labels.sort().values
        words = torch.randint(0, WORDS, (size, LENGTH), generator=generator)
        own = self.labels[:, None] * 40 + torch.randint(0, 40, (size, LENGTH), generator=generator)
        self.words = torch.where(torch.rand(size, LENGTH, generator=generator) < 0.33, own, words)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {"input_ids": self.words[index], "labels": self.labels[index]}


def accuracy(prediction):
    return {"accuracy": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}


def optimizers_of(model, fault):
    """None: those that the trainer makes."""
    if fault == "zero-learning-rate":
        optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
        return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, step // WARM_UP_STEPS))
    if fault == "forgotten-parameter":
        return torch.optim.AdamW(model.bert.parameters(), lr=5e-4), None
    return None, None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=["zero-learning-rate", "forgotten-parameter", "sorted-labels"])
    fault = parser.parse_args().fault
    set_seed(0)
    config = BertConfig(
        vocab_size=WORDS, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
        max_position_embeddings=LENGTH, num_labels=CLASSES,
    )
    model = BertForSequenceClassification(config)
    trainer = Trainer(
        model,
        TrainingArguments(
            "out/transformers_classifier",
            per_device_train_batch_size=16,
            learning_rate=5e-4,
            lr_scheduler_type="cosine",
            warmup_steps=40,
            weight_decay=0.01,
            num_train_epochs=4,
            train_sampling_strategy="sequential" if fault == "sorted-labels" else "random",
            eval_strategy="epoch",
            save_strategy="epoch",
            load_best_model_at_end=True,
            metric_for_best_model="accuracy",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        ),
        train_dataset=Texts(1600, seed=1, ordered=fault == "sorted-labels"),
        eval_dataset=Texts(200, seed=2),
        compute_metrics=accuracy,
        optimizers=optimizers_of(model, fault),
    )
    trainer.train()


if __name__ == "__main__":
    main()
