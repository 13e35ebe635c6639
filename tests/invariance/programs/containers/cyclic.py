"""Lists and dicts that contain themselves go in and come out."""
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, state):
        state["out"] = self.linear(state["x"])
        return state


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(30):
    state = {"x": torch.randn(8, 4)}
    state["self"] = state
    ring = [state]
    ring.append(ring)
    state["ring"] = ring
    optimizer.zero_grad()
    net(state)["out"].pow(2).mean().backward()
    optimizer.step()
print(len(state), len(ring), seen.digest(net))
