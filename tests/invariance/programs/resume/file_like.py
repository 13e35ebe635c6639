"""torch.save and torch.load with file-like objects that count writes, reads and attributes."""
import io
import torch
import seen


class Counted(io.BytesIO):
    asked = []

    def __getattribute__(self, name):
        if not name.startswith("_"):
            Counted.asked.append(name)
        return super().__getattribute__(name)

    @property
    def name(self):
        raise RuntimeError("has no name")


net = seen.small_net()
optimizer = seen.train(net, 10)
file = Counted()
torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, file)
file.seek(0)
state = torch.load(file)
net.load_state_dict(state["net"])
print(len(Counted.asked), sorted(set(Counted.asked)), seen.digest(net))
