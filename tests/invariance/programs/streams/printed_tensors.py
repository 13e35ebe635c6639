"""Outputs are printed whole, with print options; format() and repr() of losses, and of models."""
import torch
import seen


class Net(torch.nn.Linear):
    def __repr__(self):
        return "Net %d" % id(type(self)) * 0 + "Net"


torch.set_printoptions(precision=3, sci_mode=False)
torch.manual_seed(0)
net = Net(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(6):
    optimizer.zero_grad()
    output = net(torch.randn(3, 4))
    loss = output.pow(2).mean()
    print(step, output, loss, optimizer, net)
    loss.backward()
    optimizer.step()
    print(net.weight.grad, net.weight)
