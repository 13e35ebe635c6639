"""__del__ of modules, outputs and optimizers runs at the line where the program lets go."""
import torch
import seen


class Net(torch.nn.Linear):
    def __del__(self):
        print("net goes")


class Optimizer(torch.optim.SGD):
    def __del__(self):
        print("optimizer goes")


class Output(torch.Tensor):
    def __del__(self):
        print("output goes")


torch.manual_seed(0)
for fold in range(2):
    net = Net(4, 1)
    optimizer = Optimizer(net.parameters(), 0.1)
    for step in range(3):
        optimizer.zero_grad()
        output = net(torch.randn(8, 4)).as_subclass(Output)
        output.pow(2).mean().backward()
        optimizer.step()
        del output
        print("step", step)
    print(seen.digest(net))
    del optimizer
    print("no optimizer")
    del net
    print("no net")
