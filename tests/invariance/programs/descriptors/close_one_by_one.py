"""Descriptors 3 to 40 are closed one by one; which of them were open is printed."""
import os
import seen

net = seen.small_net()
seen.train(net, 20)
closed = []
for number in range(3, 41):
    try:
        os.close(number)
        closed.append(number)
    except OSError:
        pass
with open("own.txt", "wb") as file:
    seen.train(net, 300)
    file.write(b"x" * 10)
print(closed, open("own.txt", "rb").read(), seen.digest(net))
