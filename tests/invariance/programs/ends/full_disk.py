"""Output goes to a full disk: Python says so at its end, with exit code 120."""
import sys
import seen

sys.stdout = open("/dev/full", "w")
net = seen.small_net()
seen.train(net, 20)
print(seen.digest(net))
