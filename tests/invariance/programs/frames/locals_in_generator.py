"""A training inside a generator, whose locals are looked at from outside between its steps."""
import torch
import seen


def steps(net, lr):
    optimizer = torch.optim.SGD(net.parameters(), lr)
    number = 0
    while True:
        optimizer.zero_grad()
        loss = net(torch.randn(8, 4)).pow(2).mean()
        loss.backward()
        optimizer.step()
        number += 1
        yield number


net = seen.small_net()
running = steps(net, 0.1)
outside = None
for number in running:
    outside = outside or running.gi_frame.f_locals
    if number == 30:
        break
print(sorted(outside), outside["lr"], running.gi_frame.f_locals["number"], seen.digest(net))
