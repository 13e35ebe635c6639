"""Variables of the training's function whose ==, truth and attributes raise or count."""
import torch
import seen


class Hostile:
    asked = 0

    def __eq__(self, other):
        raise RuntimeError("==")

    def __bool__(self):
        raise RuntimeError("truth")

    def __getattr__(self, name):
        Hostile.asked += 1
        raise AttributeError(name)

    __hash__ = None


def train():
    torch.manual_seed(0)
    first, odd, second = torch.nn.Linear(4, 4), Hostile(), torch.nn.Linear(4, 1)
    others = [odd, {"odd": odd}]
    one, two = torch.optim.SGD(first.parameters(), 0.1), torch.optim.SGD(second.parameters(), 0.1)
    for step in range(20):
        one.zero_grad()
        two.zero_grad()
        second(first(torch.randn(8, 4))).pow(2).mean().backward()
        one.step()
        two.step()
    return first, second, len(others)


first, second, count = train()
print(count, Hostile.asked, seen.digest(first, second))
