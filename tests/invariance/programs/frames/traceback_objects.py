"""What an exception holds: depth of its traceback, context, cause, notes and arguments."""
import torch
import seen


class Bad(Exception):
    pass


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x, fails=False):
        if fails:
            try:
                {}["missing"]
            except KeyError as error:
                raise Bad("two", 2) from error
        return self.linear(x)


def depth(error):
    count, entry = 0, error.__traceback__
    while entry is not None:
        count, entry = count + 1, entry.tb_next
    return count


torch.manual_seed(0)
net = Net()
seen.train(net)
for _ in range(3):
    try:
        net(torch.ones(2, 4), fails=True)
    except Bad as error:
        notes = getattr(error, "__notes__", None)
        print(error.args, type(error.__cause__), error.__context__ is error.__cause__, notes, depth(error.__cause__))
print(seen.digest(net))
