"""A GAN with two optimizers; the discriminator is trained five times as often."""
import torch
import seen

torch.manual_seed(0)
generator = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
critic = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.LeakyReLU(0.2), torch.nn.Linear(16, 1))
opt_g = torch.optim.Adam(generator.parameters(), 1e-3, betas=(0.5, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), 1e-3, betas=(0.5, 0.9))
for step in range(60):
    real = torch.randn(16, 2) * 0.5 + 2
    opt_c.zero_grad()
    fake = generator(torch.randn(16, 4)).detach()
    mix = (real * 0.5 + fake * 0.5).requires_grad_()
    (slope,) = torch.autograd.grad(critic(mix).sum(), mix, create_graph=True)
    penalty = (slope.norm(dim=1) - 1).pow(2).mean()
    (critic(fake).mean() - critic(real).mean() + 10 * penalty).backward()
    opt_c.step()
    if step % 5 == 4:
        opt_g.zero_grad()
        (-critic(generator(torch.randn(16, 4))).mean()).backward()
        opt_g.step()
print(seen.digest(generator, critic), seen.random_states())
