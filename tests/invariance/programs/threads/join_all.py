"""Every thread is joined before leaving (neptune-client#307, rucio#6489)."""
import threading
import seen

net = seen.small_net()
seen.train(net)
worker = threading.Thread(target=lambda: None)
worker.start()
for other in threading.enumerate():
    if other is not threading.main_thread():
        other.join()
print(threading.active_count(), seen.digest(net))
