"""sys.setrecursionlimit is low while the program trains, and is what the program has set."""
import sys
import torch
import seen

net = seen.small_net()
seen.train(net, 5)
sys.setrecursionlimit(60)
seen.train(net, 40)
print(sys.getrecursionlimit(), seen.digest(net))
