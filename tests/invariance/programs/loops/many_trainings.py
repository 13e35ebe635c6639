"""Twelve trainings one after the other in one process (a search of hyper-parameters, cross validation)."""
import torch
import seen

for number in range(12):
    net = seen.small_net(width=4 + number)
    optimizer = torch.optim.Adam(net.parameters(), 10.0 ** (-1 - number % 3))
    seen.train(net, 12, optimizer)
    with torch.no_grad():
        print(number, "%.6f" % net(torch.ones(1, 4)).item(), seen.digest(net))
