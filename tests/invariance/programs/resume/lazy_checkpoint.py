"""torch.load gives a mapping of the program's own whose get() and values() count."""
import collections
import torch
import seen


class Checkpoint(collections.OrderedDict):
    asked = []

    def get(self, key, default=None):
        Checkpoint.asked.append(("get", key))
        return super().get(key, default)

    def values(self):
        Checkpoint.asked.append("values")
        return super().values()


net = seen.small_net()
optimizer = torch.optim.Adam(net.parameters(), 0.01)
seen.train(net, 10, optimizer)
torch.save(Checkpoint(net=net.state_dict(), optimizer=optimizer.state_dict(), inner=Checkpoint(a=1)), "checkpoint.pt")
state = torch.load("checkpoint.pt")
net.load_state_dict(state["net"])
optimizer.load_state_dict(state["optimizer"])
seen.train(net, 10, optimizer)
print(Checkpoint.asked, seen.digest(net))
