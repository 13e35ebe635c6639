"""Peak memory of large activations in a model, with dropped intermediate results."""
import torch
import seen

torch.manual_seed(0)
torch.set_num_threads(1)
net = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(6)])
optimizer = torch.optim.SGD(net.parameters(), 1e-3)
for step in range(8):
    optimizer.zero_grad()
    net(torch.randn(4096, 512)).pow(2).mean().backward()
    optimizer.step()
print(seen.digest(net))
