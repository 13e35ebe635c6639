"""A profiler that is started before the first step and stopped in the middle; its state is asked for at each step."""
import torch
import seen

net = seen.small_net()
states = []
profiler = torch.autograd.profiler.profile(record_shapes=True)
profiler.__enter__()


def each(step):
    states.append(torch._C._autograd._profiler_enabled())
    if step == 9:
        profiler.__exit__(None, None, None)


seen.train(net, 25, each=each)
names = {event.name for event in profiler.function_events}
print(states, len(profiler.function_events), sorted(names), seen.digest(net))
