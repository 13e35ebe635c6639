"""Lightning: a trainer calls methods of a module by their names, checks signatures and overridden methods."""
import inspect
import torch
import seen


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)
        self.trainer = None
        self.logged = {}

    def log(self, name, value):
        self.logged[name] = float(value)

    def training_step(self, batch, index):
        loss = torch.nn.functional.mse_loss(self(batch), torch.ones(len(batch), 1))
        self.log("train_loss", loss.detach())
        return {"loss": loss, "index": index}

    def forward(self, x):
        return self.net(x)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 0.01)


class Trainer:
    def fit(self, module):
        module.trainer = self
        optimizer = module.configure_optimizers()
        for index in range(30):
            def closure():
                optimizer.zero_grad()
                output = module.training_step(torch.randn(8, 4), index)
                output["loss"].backward()
                return output["loss"]

            optimizer.step(closure=closure)


torch.manual_seed(0)
module = Module()
Trainer().fit(module)
overridden = [name for name in dir(torch.nn.Module) if getattr(Module, name) is not getattr(torch.nn.Module, name)]
print(sorted(overridden), inspect.signature(module.__call__), inspect.signature(Module.forward), module.logged.keys())
print(seen.digest(module))
