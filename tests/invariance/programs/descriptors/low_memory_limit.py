"""RLIMIT_AS leaves little room beyond what the program has, and RLIMIT_STACK is small."""
import resource
import seen

net = seen.small_net()
seen.train(net, 2)
with open("/proc/self/statm") as statm:
    used = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), resource.RLIM_INFINITY))
seen.train(net, 300)
data = bytearray(8 << 20)
print(len(data), seen.digest(net))
