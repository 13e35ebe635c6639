"""A GRU that continues noisy waves, with the Trainer of Lightning, clipped gradients and a schedule.

Faults: a learning rate of 1 where 1e-3 was meant; outputs are kept for the end of the epoch and never cleared.

fault huge-learning-rate: Divergence, LossDrift, LossSpike, GradientSpike, NonFiniteOrigin, ExplodingTensor
fault memory-leak: MemoryLeak
"""

import argparse

import lightning as L
import torch
from lightning.pytorch.callbacks import LearningRateMonitor
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LENGTH = 48


class Forecast(L.LightningModule):
    def __init__(self, rate, forgets_to_clear):
        super().__init__()
        self.save_hyperparameters()
        self.recurrent = nn.GRU(1, 64, batch_first=True)
        self.head = nn.Linear(64, 1)
        self.outputs = []

    def forward(self, waves):
        states, _ = self.recurrent(waves)
        return states, self.head(states)

    def training_step(self, batch, index):
        waves, following = batch
        states, predicted = self(waves)
        loss = nn.functional.mse_loss(predicted, following)
        self.log("train_loss", loss)
        self.outputs.append((states, predicted))
        return loss

    def on_train_epoch_end(self):
        self.log("state_size", torch.stack([states.detach().abs().mean() for states, _ in self.outputs[-50:]]).mean())
        if not self.hparams.forgets_to_clear:
            self.outputs.clear()

    def validation_step(self, batch, index):
        waves, following = batch
        self.log("val_loss", nn.functional.mse_loss(self(waves)[1], following))

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.rate)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)]


def waves(count, seed):
    """Waves of random frequency and phase, and the same one sample later."""
    generator = torch.Generator().manual_seed(seed)
    frequency = 0.1 + 0.6 * torch.rand(count, 1, generator=generator)
    phase = 6.28 * torch.rand(count, 1, generator=generator)
    wave = torch.sin(frequency * torch.arange(LENGTH + 1) + phase)
    wave = (wave + 0.05 * torch.randn(count, LENGTH + 1, generator=generator))[:, :, None]
    return TensorDataset(wave[:, :-1], wave[:, 1:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=["huge-learning-rate", "memory-leak"])
    fault = parser.parse_args().fault
    L.seed_everything(0)
    model = Forecast(1.0 if fault == "huge-learning-rate" else 1e-3, forgets_to_clear=fault == "memory-leak")
    trainer = L.Trainer(
        max_epochs=8,
        gradient_clip_val=1.0,
        log_every_n_steps=10,
        accelerator="cpu",
        callbacks=[LearningRateMonitor("step")],
        default_root_dir="out/lightning_forecast",
        enable_progress_bar=False,
    )
    trainer.fit(model, DataLoader(waves(4000, 1), 64, shuffle=True), DataLoader(waves(400, 2), 100))


if __name__ == "__main__":
    main()
