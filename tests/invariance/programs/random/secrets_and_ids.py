"""uuid, tempfile names and hash seeds that a program derives from random.seed are the same."""
import random
import tempfile
import uuid
import seen

random.seed(7)
tempfile._name_sequence = None
net = seen.small_net()
seen.train(net, 20)
print(uuid.UUID(int=random.getrandbits(128)), random.sample(range(100), 5), seen.digest(net))
print(random.choices("abc", k=8), random.gauss(0, 1), seen.random_states())
