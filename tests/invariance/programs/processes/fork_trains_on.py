"""os.fork() in the middle of a training: the child and the parent train on, each for itself."""
import os
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
seen.train(net, 15, optimizer)
child = os.fork()
seen.train(net, 15 if child else 25, optimizer)
if child == 0:
    print("child", seen.digest(net), seen.random_states(), flush=True)
    os._exit(7)
_, status = os.waitpid(child, 0)
print("parent", os.waitstatus_to_exitcode(status), seen.digest(net), seen.random_states())
