"""fork_rng, get and set of states in the middle of a training; stochastic layers give the same again."""
import torch
import seen

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Dropout(0.3), torch.nn.RReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.05)
same = []
for step in range(25):
    optimizer.zero_grad()
    x = torch.randn(8, 4)
    state = torch.get_rng_state()
    first = net(x)
    torch.set_rng_state(state)
    with torch.random.fork_rng():
        second = net(x)
    third = net(x)
    same.append((first.equal(second), first.equal(third)))
    first.pow(2).mean().backward()
    optimizer.step()
print(set(same), seen.digest(net), seen.random_states())
