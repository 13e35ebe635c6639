"""The number that the next opened file gets, before, during and after a training."""
import os
import seen

numbers = []


def look(step=0):
    with open("own.txt", "w") as file:
        numbers.append(file.fileno())


look()
net = seen.small_net()
seen.train(net, 30, each=look)
look()
print(sorted(set(numbers)), numbers[0] == numbers[-1], seen.digest(net))
