"""A GAN that draws points of a ring, with the Trainer of Lightning and optimization by hand.

Faults: both zero_grad() are forgotten, which Lightning calls only in its automatic optimization; the optimizer of the
discriminator got the generator's parameters.

fault missing-zero-grad: MissingZeroGrad
fault forgotten-parameter: ForgottenParameter, NoOpUpdate
"""

import argparse

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LATENT = 8


def perceptron(inputs, outputs):
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, outputs)
    )


class Gan(L.LightningModule):
    def __init__(self, fault):
        super().__init__()
        self.automatic_optimization = False
        self.generator = perceptron(LATENT, 2)
        self.discriminator = perceptron(2, 1)
        self.zeroes = fault != "missing-zero-grad"
        self.second = self.generator if fault == "forgotten-parameter" else self.discriminator

    def judged(self, points, real):
        scores = self.discriminator(points)
        return nn.functional.binary_cross_entropy_with_logits(scores, torch.full_like(scores, float(real)))

    def improve(self, optimizer, loss):
        if self.zeroes:
            optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()

    def training_step(self, batch, index):
        (points,) = batch
        of_generator, of_discriminator = self.optimizers()
        drawn = self.generator(torch.randn(len(points), LATENT))

        self.toggle_optimizer(of_discriminator)
        loss = (self.judged(points, True) + self.judged(drawn.detach(), False)) / 2
        self.log("discriminator_loss", loss)
        self.improve(of_discriminator, loss)
        self.untoggle_optimizer(of_discriminator)

        self.toggle_optimizer(of_generator)
        loss = self.judged(drawn, True)
        self.log("generator_loss", loss)
        self.improve(of_generator, loss)
        self.untoggle_optimizer(of_generator)

    def configure_optimizers(self):
        return [
            torch.optim.Adam(self.generator.parameters(), lr=1e-3, betas=(0.5, 0.999)),
            torch.optim.Adam(self.second.parameters(), lr=1e-3, betas=(0.5, 0.999)),
        ]


def ring(count):
    angles = 6.28 * torch.rand(count)
    return TensorDataset(torch.stack([angles.cos(), angles.sin()], 1) + 0.05 * torch.randn(count, 2))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=["missing-zero-grad", "forgotten-parameter"])
    fault = parser.parse_args().fault
    L.seed_everything(0)
    trainer = L.Trainer(
        max_epochs=10, accelerator="cpu", default_root_dir="out/lightning_gan", enable_progress_bar=False
    )
    trainer.fit(Gan(fault), DataLoader(ring(6400), 64, shuffle=True))


if __name__ == "__main__":
    main()
