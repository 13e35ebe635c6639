"""A child of os.fork() ends by sys.exit(), so that its atexit functions run."""
import atexit
import os
import sys
import torch
import seen

atexit.register(lambda: print("exit of", role, flush=True))
role = "parent"
net = seen.small_net()
seen.train(net, 15)
sys.stdout.flush()
child = os.fork()
if child == 0:
    role = "child"
    seen.train(net, 5)
    print("child", seen.digest(net))
    sys.exit(4)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen.digest(net))
