"""Pipes, epoll and inotify of the program's; select() on high numbers; nothing else waits in them."""
import os
import select
import seen

reads, writes = os.pipe()
poll = select.epoll()
poll.register(reads, select.EPOLLIN)
net = seen.small_net()
seen.train(net, 30)
print(poll.poll(0), select.select([reads], [], [], 0))
os.write(writes, b"mine")
print(len(poll.poll(1)), os.read(reads, 100), seen.digest(net))
os.close(writes)
print(os.read(reads, 1))
