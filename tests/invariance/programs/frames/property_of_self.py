"""A trainer whose attributes are properties that count; its models are found by nobody's look at them."""
import torch
import seen


class Trainer:
    reads = []

    def __init__(self):
        torch.manual_seed(0)
        self._one, self._two = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
        self.first = torch.optim.SGD(self._one.parameters(), 0.1)
        self.second = torch.optim.SGD(self._two.parameters(), 0.1)

    @property
    def model(self):
        Trainer.reads.append("model")
        return self._one

    def __getattr__(self, name):
        Trainer.reads.append(name)
        raise AttributeError(name)

    def run(self):
        for step in range(20):
            self.first.zero_grad()
            self.second.zero_grad()
            self._two(self._one(torch.randn(8, 4))).pow(2).mean().backward()
            self.first.step()
            self.second.step()


trainer = Trainer()
trainer.run()
print(Trainer.reads, sorted(vars(trainer)), seen.digest(trainer._one, trainer._two))
