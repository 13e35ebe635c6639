"""An audit hook of the program sees what its own lines do: files opened, sockets, processes, code compiled."""
import collections
import sys
import torch
import seen

counted = collections.Counter()
is_on = False


def hook(event, args):
    if is_on and event in ("socket.connect", "subprocess.Popen", "os.system", "os.fork", "os.remove", "shutil.rmtree"):
        counted[event] += 1
    if is_on and event == "open" and "/" not in str(args[0]):
        counted[event] += 1


sys.addaudithook(hook)
is_on = True
net = seen.small_net()
seen.train(net, 30)
torch.save(net.state_dict(), "net.pt")
is_on = False
print(sorted(counted.items()), seen.digest(net))
