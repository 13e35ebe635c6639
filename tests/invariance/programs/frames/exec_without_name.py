"""A training in exec() with globals that have no __name__, and one in eval() of a lambda."""
import torch
import seen

code = """
net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(20):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
"""


class Globals(dict):
    asked = []

    def __getitem__(self, key):
        Globals.asked.append(key)
        return super().__getitem__(key)

    def get(self, key, default=None):
        Globals.asked.append(key)
        return super().get(key, default)


space = Globals(torch=torch, seen=seen)
exec(compile(code, "<made>", "exec"), space)
print(sorted(space), sorted(set(Globals.asked)), seen.digest(dict.__getitem__(space, "net")))
split = {"torch": torch, "seen": seen}, {}
exec(code, *split)
print(sorted(split[0]), sorted(split[1]), seen.digest(split[1]["net"]))
