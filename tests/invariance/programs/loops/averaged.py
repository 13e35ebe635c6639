"""Stochastic weight averaging with its own schedule and update of batch norm."""
import torch
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
import seen

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
average = AveragedModel(net)
optimizer = torch.optim.SGD(net.parameters(), 0.05)
scheduler = SWALR(optimizer, swa_lr=0.01)
batches = [torch.randn(8, 4) for _ in range(10)]
for epoch in range(5):
    for x in batches:
        optimizer.zero_grad()
        net(x).pow(2).mean().backward()
        optimizer.step()
    if epoch >= 2:
        average.update_parameters(net)
        scheduler.step()
update_bn(batches, average)
average.eval()
with torch.no_grad():
    print("%.6f" % average(batches[0]).sum().item(), average.n_averaged.item(), seen.digest(net, average))
