"""`config = locals()` at the start of a function, as programs keep their hyper-parameters (W&B, Keras, fastai)."""
import torch
import seen


def train(lr=0.01, steps=20, width=4):
    config = locals()
    torch.manual_seed(0)
    generator = torch.nn.Linear(4, width)
    critic = torch.nn.Linear(width, 1)
    first, second = torch.optim.SGD(generator.parameters(), lr), torch.optim.SGD(critic.parameters(), lr)
    for step in range(steps):
        first.zero_grad()
        second.zero_grad()
        critic(generator(torch.randn(8, 4))).pow(2).mean().backward()
        first.step()
        second.step()
    print({k: v for k, v in config.items() if isinstance(v, (int, float))}, seen.digest(generator, critic))
    return config["lr"]


print(train())
