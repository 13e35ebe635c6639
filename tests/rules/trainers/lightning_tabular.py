"""A perceptron with dropout on rows of a table, with the Trainer of Lightning and a validation after each epoch.

Faults: columns are divided by their deviation, and one of them is constant; weights and biases of the layers start at
values that let no ReLU pass; the model was put into evaluation mode before the training, and Lightning leaves it there.

fault non-finite: NonFiniteOrigin, ExplodingTensor
fault dead-relu: DeadRelu
fault eval-mode: ModeMistake
"""

import argparse

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

COLUMNS = 30
CLASSES = 5


class Perceptron(L.LightningModule):
    def __init__(self, bad_start=False):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(COLUMNS, 128), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(128, 64), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(64, CLASSES),
        )
        if bad_start:
            self.net.apply(start_small)

    def forward(self, rows):
        return self.net(rows)

    def training_step(self, batch, index):
        rows, labels = batch
        loss = nn.functional.cross_entropy(self(rows), labels)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        rows, labels = batch
        output = self(rows)
        self.log("val_loss", nn.functional.cross_entropy(output, labels))
        self.log("val_accuracy", (output.argmax(1) == labels).float().mean())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def start_small(layer):
    if isinstance(layer, nn.Linear):
        nn.init.normal_(layer.weight, std=0.01)
        nn.init.constant_(layer.bias, -1.0)


def table(constant_column):
    """Rows around a few centres of each class, on the scales that columns happen to have."""
    centres = torch.randn(CLASSES * 3, COLUMNS)
    kinds = torch.randint(0, CLASSES * 3, (6000,))
    rows = (centres[kinds] + torch.randn(6000, COLUMNS)) * torch.logspace(-2, 3, COLUMNS) + 10
    if constant_column:
        rows[:, 7] = 1.0
    return (rows - rows.mean(0)) / rows.std(0), kinds % CLASSES


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=["non-finite", "dead-relu", "eval-mode"])
    fault = parser.parse_args().fault
    L.seed_everything(0)
    rows, labels = table(constant_column=fault == "non-finite")
    training = DataLoader(TensorDataset(rows[:5000], labels[:5000]), 32, shuffle=True)
    validation = DataLoader(TensorDataset(rows[5000:], labels[5000:]), 250)
    model = Perceptron(bad_start=fault == "dead-relu")
    if fault == "eval-mode":
        model.eval()  # to look at what it says before the training
        with torch.no_grad():
            print("before the training:", model(rows[:4]).softmax(1))
    trainer = L.Trainer(
        max_epochs=6, accelerator="cpu", default_root_dir="out/lightning_tabular", enable_progress_bar=False
    )
    trainer.fit(model, training, validation)


if __name__ == "__main__":
    main()
