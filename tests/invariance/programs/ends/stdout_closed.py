"""sys.stdout is closed; the exit of the program flushes nothing."""
import sys
import seen

net = seen.small_net()
seen.train(net, 10)
sys.stdout.close()
seen.train(net, 10)
sys.stderr.write(seen.digest(net) + "\n")
