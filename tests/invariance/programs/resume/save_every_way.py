"""torch.save with paths, bytes, keyword arguments, the old format, and a pickle module of the program's own."""
import pathlib
import pickle
import types
import torch
import seen

counted = []


class Pickler(pickle.Pickler):
    def __init__(self, *args, **kwargs):
        counted.append("pickler")
        super().__init__(*args, **kwargs)


own = types.SimpleNamespace(**{**vars(pickle), "Pickler": Pickler})
net = seen.small_net()
seen.train(net, 10)
torch.save(net.state_dict(), pathlib.Path("one.pt"))
torch.save(obj=net.state_dict(), f="two.pt")
torch.save(net.state_dict(), "three.pt", _use_new_zipfile_serialization=False)
torch.save(net.state_dict(), "four.pt", pickle_module=own)
with open("five.pt", "wb") as file:
    torch.save(net.state_dict(), file)
for name in ("one", "two", "three", "four", "five"):
    net.load_state_dict(torch.load(name + ".pt", map_location="cpu"))
    print(name, pathlib.Path(name + ".pt").stat().st_size, seen.digest(net))
for wrong in ("/nowhere/x.pt", 5):
    try:
        torch.save({}, wrong)
    except Exception as error:
        print(type(error).__name__, error)
print(counted)
