"""A small ResNet that sorts images, with Trainer of transformers, SGD and a schedule in steps.

Faults: a schedule that multiplies the rate by 10 where 0.1 was meant; labels that were shuffled without their images;
far too few images, gone through again and again.

fault learning-rate-jump: LearningRateJump
fault random-labels: LossNotDecreasing, Overtraining, Overfit
fault overfit: Overfit, Overtraining
"""

import argparse

import torch
from transformers import ResNetConfig, ResNetForImageClassification, Trainer, TrainingArguments, set_seed

CLASSES = 4
SIZE = 32
STEPS = 360


class Images(torch.utils.data.Dataset):
    """The pattern of a class in noise."""

    def __init__(self, size, seed, shuffled_labels=False):
        patterns = torch.randn(CLASSES, 3, SIZE, SIZE, generator=torch.Generator().manual_seed(0))
        generator = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, CLASSES, (size,), generator=generator)
        noise = torch.randn(size, 3, SIZE, SIZE, generator=generator)
        self.images = 0.3 * patterns[self.labels] + noise
        if shuffled_labels:
            self.labels = self.labels[torch.randperm(size, generator=generator)]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {"pixel_values": self.images[index], "labels": self.labels[index]}


def accuracy(prediction):
    return {"accuracy": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=["learning-rate-jump", "random-labels", "overfit"])
    fault = parser.parse_args().fault
    set_seed(0)
    config = ResNetConfig(
        embedding_size=16, hidden_sizes=[16, 32, 64], depths=[1, 1, 1], layer_type="basic", num_labels=CLASSES
    )
    model = ResNetForImageClassification(config)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    factor = 10 if fault == "learning-rate-jump" else 0.1
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [STEPS // 2, STEPS * 3 // 4], gamma=factor)
    shuffled = fault == "random-labels"
    trainer = Trainer(
        model,
        TrainingArguments(
            "out/transformers_images",
            per_device_train_batch_size=32,
            max_steps=STEPS,
            eval_strategy="steps",
            eval_steps=40,
            save_strategy="steps",
            save_steps=180,
            logging_steps=20,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        ),
        train_dataset=Images(48 if fault == "overfit" else 1920, seed=1, shuffled_labels=shuffled),
        eval_dataset=Images(256, seed=2, shuffled_labels=shuffled),
        compute_metrics=accuracy,
        optimizers=(optimizer, schedule),
    )
    trainer.train()


if __name__ == "__main__":
    main()
