"""The plainest loop."""
import seen

net = seen.small_net()
seen.train(net, 100)
print(seen.digest(net), seen.random_states())
