"""A variational autoencoder: two outputs, reparametrised noise, a sum of losses."""
import torch
import seen


class Vae(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = torch.nn.Linear(10, 8), torch.nn.Linear(4, 10)

    def forward(self, x):
        mean, log_variance = self.encode(x).chunk(2, 1)
        latent = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return torch.sigmoid(self.decode(latent)), mean, log_variance


torch.manual_seed(0)
net = Vae()
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
for step in range(40):
    x = torch.rand(16, 10)
    made, mean, log_variance = net(x)
    likeness = torch.nn.functional.binary_cross_entropy(made, x, reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    optimizer.zero_grad()
    (likeness + divergence).backward()
    optimizer.step()
print(seen.digest(net), seen.random_states())
