"""The bytes of torch.save, of models, optimizers, schedulers and states: length and hash."""
import hashlib
import io
import pickle
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.Adam(net.parameters(), 0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5)
for step in range(30):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(net(torch.randn(8, 4)), torch.ones(8, 1)).backward()
    optimizer.step()
    scheduler.step()
things = [net, net.state_dict(), optimizer.state_dict(), scheduler.state_dict(), optimizer.param_groups]
things.append(list(net.parameters()))
for thing in things:
    buffer = io.BytesIO()
    torch.save(thing, buffer)
    print(len(buffer.getvalue()), hashlib.sha256(buffer.getvalue()).hexdigest()[:12])
    print(type(pickle.loads(pickle.dumps(thing))).__name__)
print(len(pickle.dumps(torch.nn.MSELoss())))
