"""locals() is a snapshot that the program has changed; its own entries stay until it asks again."""
import torch
import seen


def train():
    torch.manual_seed(0)
    first, second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
    one, two = torch.optim.SGD(first.parameters(), 0.1), torch.optim.SGD(second.parameters(), 0.1)
    names = locals()
    names["extra"] = "kept"
    names["first"] = "other"
    for step in range(20):
        one.zero_grad()
        two.zero_grad()
        second(first(torch.randn(8, 4))).pow(2).mean().backward()
        one.step()
        two.step()
        step += 0
    return names.get("extra"), names.get("first"), "step" in names, seen.digest(first, second)


print(train())
