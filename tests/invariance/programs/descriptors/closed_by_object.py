"""Objects close descriptors by numbers that they keep for too long; files of others are not at those numbers."""
import os
import seen

net = seen.small_net()
numbers = [os.open("/dev/null", os.O_RDONLY) for _ in range(6)]
for number in numbers:
    os.close(number)
seen.train(net, 20)
again = 0
for number in numbers:
    try:
        os.close(number)
        again += 1
    except OSError:
        pass
seen.train(net, 400)
print(again, seen.digest(net))
