"""Trains a classifier with the Trainer of Lightning."""

import argparse

import lightning as L
import torch
from lightning.pytorch.callbacks import LearningRateMonitor
from lightning.pytorch.loggers import CSVLogger
from torch.utils.data import DataLoader, TensorDataset


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))

    def training_step(self, batch, index):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        output = self.net(x)
        self.log("val_loss", torch.nn.functional.cross_entropy(output, y))
        self.log("val_accuracy", (output.argmax(1) == y).float().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)]


def samples(count, seed):
    x = torch.randn(count, 4, generator=torch.Generator().manual_seed(seed))
    return TensorDataset(x, (x[:, 0] > x[:, 1]).long())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--out", default="out")
    parser.add_argument("--resume", help="a checkpoint")
    arguments = parser.parse_args()
    L.seed_everything(0)
    trainer = L.Trainer(
        max_epochs=arguments.epochs,
        accumulate_grad_batches=arguments.accumulate,
        gradient_clip_val=1.0,
        log_every_n_steps=1,
        accelerator="cpu",
        logger=CSVLogger(arguments.out, name="", version=""),
        callbacks=[LearningRateMonitor("step")],
        default_root_dir=arguments.out,
        enable_progress_bar=False,
    )
    training, validation = DataLoader(samples(400, 1), 8, shuffle=True), DataLoader(samples(80, 2), 40)
    trainer.fit(Classifier(), training, validation, ckpt_path=arguments.resume)


if __name__ == "__main__":
    main()
