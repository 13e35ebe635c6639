"""A GAN: two models, two optimizers, losses that go up and down."""
import toy
import torch
from torch import nn

toy.begin()
data, _ = toy.blobs(features=2, classes=2, noise=0.2)
generator = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()
for step in range(200):
    real = data[torch.randint(0, len(data), (32,))]
    fake = generator(torch.randn(32, 4))
    of_critic.zero_grad()
    (criterion(critic(real), torch.ones(32, 1)) + criterion(critic(fake.detach()), torch.zeros(32, 1))).backward()
    of_critic.step()
    of_generator.zero_grad()
    criterion(critic(fake), torch.ones(32, 1)).backward()
    of_generator.step()
