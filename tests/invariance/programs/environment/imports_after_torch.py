"""Modules that are there after torch was imported and a training, but for our own."""
import sys
import seen

net = seen.small_net()
seen.train(net, 20)
known = ("trainwarden", "_", "torch", "numpy")
names = sorted(name for name in sys.modules if not name.startswith(known) and "." not in name)
print(names)
