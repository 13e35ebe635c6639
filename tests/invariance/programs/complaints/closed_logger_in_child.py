"""clearml#607: handlers of logging are made anew in a forked child, whatever others have registered at fork."""
import logging
import os
import sys
import seen

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(message)s")
net = seen.small_net()
seen.train(net, 10)
sys.stdout.flush()
child = os.fork()
if child == 0:
    logging.info("child")
    seen.train(net, 5)
    sys.stdout.flush()
    os._exit(0)
print(os.waitpid(child, 0)[1])
logging.info("parent %s", seen.digest(net))
