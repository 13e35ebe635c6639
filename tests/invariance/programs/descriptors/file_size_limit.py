"""RLIMIT_FSIZE is 16 KiB, as some batch systems set it; the program writes less."""
import resource
import signal
import seen

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))
net = seen.small_net()
seen.train(net, 1500)
print(seen.digest(net), flush=True)
