"""load_state_dict of models and optimizers keeps parameters the same objects, and copies moments."""
import copy
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.Adam(net.parameters(), 0.01)
seen.train(net, 10, optimizer)
kept = copy.deepcopy(net.state_dict()), copy.deepcopy(optimizer.state_dict())
ids = [id(each) for each in net.parameters()]
seen.train(net, 10, optimizer)
net.load_state_dict(kept[0])
optimizer.load_state_dict(kept[1])
torch.manual_seed(5)
seen.train(net, 10, optimizer)
print(ids == [id(each) for each in net.parameters()], len(optimizer.state), seen.digest(net))
