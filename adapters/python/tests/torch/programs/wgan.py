"""A Wasserstein GAN: the generator steps for each fifth batch alone."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from outcome import report, sees


def main():
    torch.manual_seed(2)
    generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(True), nn.Linear(16, 8))
    critic = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    critic_optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
    generator_optimizer = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
    loader = DataLoader(TensorDataset(torch.randn(120, 8)), batch_size=4, shuffle=True)
    for step, (real,) in enumerate(loader):
        critic_optimizer.zero_grad()
        fake = generator(torch.randn(4, 4)).detach()
        critic_loss = -critic(real).mean() + critic(fake).mean()
        critic_loss.backward()
        sees("gradient/critic.0.weight", critic[0].weight.grad)
        critic_optimizer.step()
        sees("critic.0.weight", critic[0].weight)
        if step % 5 == 4:
            generator_optimizer.zero_grad()
            (-critic(generator(torch.randn(4, 4))).mean()).backward()
            sees("gradient/generator.0.weight", generator[0].weight.grad)
            generator_optimizer.step()
            sees("generator.0.weight", generator[0].weight)
        print(f"step {step} {critic_loss.item():.17g}")
    report(generator, critic)


if __name__ == "__main__":
    main()
