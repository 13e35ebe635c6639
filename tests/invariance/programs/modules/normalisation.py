"""Batch norm's running statistics are those of the program's own calls; spectral and weight norm as well."""
import torch
from torch.nn.utils import spectral_norm, weight_norm
import seen

torch.manual_seed(0)
net = torch.nn.Sequential(
    torch.nn.BatchNorm1d(4),
    spectral_norm(torch.nn.Linear(4, 8)),
    torch.nn.InstanceNorm1d(8, track_running_stats=True),
    weight_norm(torch.nn.Linear(8, 1)),
)
optimizer = torch.optim.SGD(net.parameters(), 0.05)
for step in range(25):
    optimizer.zero_grad()
    x = torch.randn(8, 4)
    hidden = net[1](net[0](x))
    net[3](net[2](hidden[:, :, None].expand(8, 8, 3))[:, :, 0]).pow(2).mean().backward()
    optimizer.step()
print(net[0].num_batches_tracked.item(), seen.digest(net))
