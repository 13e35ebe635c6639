"""tracemalloc is off, unless the program starts it; then its traced memory is that of the program."""
import sys
import tracemalloc
import seen

net = seen.small_net()
seen.train(net, 30)
print(tracemalloc.is_tracing(), "tracemalloc" in sys.modules, seen.digest(net))
tracemalloc.start()
seen.train(net, 30)
print(tracemalloc.is_tracing(), tracemalloc.get_traceback_limit(), seen.digest(net))
