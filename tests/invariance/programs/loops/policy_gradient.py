"""Reinforcement learning: a policy acts 300 times without gradients, then a few updates (wandb#3701)."""
import torch
import seen

torch.manual_seed(0)
torch.set_num_threads(1)
policy = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 4))
optimizer = torch.optim.Adam(policy.parameters(), 3e-4)
for episode in range(12):
    observations, actions, observation = [], [], torch.zeros(8)
    with torch.no_grad():
        for step in range(300):
            action = torch.distributions.Categorical(logits=policy(observation)).sample()
            observations.append(observation)
            actions.append(action)
            observation = torch.randn(8)
    chosen = torch.stack(observations), torch.stack(actions), torch.randn(300)
    for update in range(4):
        optimizer.zero_grad()
        distribution = torch.distributions.Categorical(logits=policy(chosen[0]))
        loss = -(distribution.log_prob(chosen[1]) * chosen[2]).mean()
        loss.backward()
        optimizer.step()
print("%.7f" % loss.item(), seen.digest(policy), seen.random_states())
