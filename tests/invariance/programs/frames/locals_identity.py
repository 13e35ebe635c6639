"""locals() of a function is one dict, which keeps what the program has put into it until it is asked for again."""
import torch
import seen


def train(net, steps):
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    first = locals()
    first["note"] = "mine"
    for step in range(steps):
        optimizer.zero_grad()
        loss = net(torch.randn(8, 4)).pow(2).mean()
        loss.backward()
        optimizer.step()
    notes = first.get("note"), sorted(first)
    again = locals()
    return notes, again is first, sorted(again), first["steps"]


net = seen.small_net()
print(train(net, 12))

print(train(net, 70), seen.digest(net))
