"""Q-learning with a replay buffer of Python objects, a target network and epsilon-greedy actions."""
import collections
import copy
import random
import torch
import seen

random.seed(0)
net = seen.small_net(outputs=2)
target = copy.deepcopy(net)
optimizer = torch.optim.RMSprop(net.parameters(), 1e-3)
buffer = collections.deque(maxlen=200)
state = torch.zeros(4)
for step in range(150):
    action = random.randrange(2) if random.random() < 0.3 else net(state).argmax().item()
    following = (state + torch.randn(4) * 0.1).detach()
    buffer.append((state, action, following.sum().item(), following))
    state = following
    if len(buffer) >= 16:
        states, actions, rewards, nexts = zip(*random.sample(buffer, 16))
        with torch.no_grad():
            wanted = torch.tensor(rewards) + 0.9 * target(torch.stack(nexts)).max(1).values
        got = net(torch.stack(states)).gather(1, torch.tensor(actions)[:, None])[:, 0]
        optimizer.zero_grad()
        torch.nn.functional.smooth_l1_loss(got, wanted).backward()
        optimizer.step()
    if step % 20 == 0:
        target.load_state_dict(net.state_dict())
print(len(buffer), seen.digest(net, target), seen.random_states())
