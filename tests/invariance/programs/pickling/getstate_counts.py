"""__getstate__, __reduce__ and __deepcopy__ of modules and optimizers count who asks."""
import copy
import pickle
import torch
import seen

asked = []


class Net(torch.nn.Linear):
    def __getstate__(self):
        asked.append("getstate")
        return vars(self)

    def __deepcopy__(self, memo):
        asked.append("deepcopy")
        made = type(self)(4, 1)
        made.load_state_dict(self.state_dict())
        return made

    def state_dict(self, *args, **kwargs):
        asked.append("state_dict")
        return super().state_dict(*args, **kwargs)


class Optimizer(torch.optim.SGD):
    def state_dict(self):
        asked.append("optimizer")
        return super().state_dict()

    def __getstate__(self):
        asked.append("optimizer getstate")
        return super().__getstate__()


torch.manual_seed(0)
net = Net(4, 1)
optimizer = Optimizer(net.parameters(), 0.1)
seen.train(net, 20, optimizer)
print(asked)
copy.deepcopy(net), pickle.dumps(net), optimizer.state_dict()
print(asked, seen.digest(net))
