"""An exception ends a thread that trains; threading.excepthook is the program's own."""
import threading
import torch
import seen

caught = []
threading.excepthook = lambda args: caught.append((args.exc_type.__name__, str(args.exc_value), args.thread.name))


class Net(torch.nn.Module):
    calls = 0

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x):
        Net.calls += 1
        if Net.calls == 10:
            raise ValueError("the tenth")
        return self.linear(x)


def work(net):
    seen.train(net, 20)


torch.manual_seed(0)
net = Net()
for number in range(2):
    thread = threading.Thread(target=work, args=(net,), name=f"worker{number}")
    thread.start()
    thread.join()
print(caught, Net.calls, seen.digest(net))
