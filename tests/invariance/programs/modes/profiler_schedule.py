"""torch.profiler with a schedule, stepped through the whole training, and a handler that counts traces."""
import torch
import torch.profiler
import seen

traces = []
net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
schedule = torch.profiler.schedule(wait=2, warmup=2, active=3, repeat=2)
with torch.profiler.profile(
    schedule=schedule,
    activities=[torch.profiler.ProfilerActivity.CPU],
    on_trace_ready=lambda profiler: traces.append(sum(event.count for event in profiler.key_averages())),
) as profiler:
    for step in range(20):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
        profiler.step()
print(traces, seen.digest(net))
