"""python -m cProfile: how often functions of torch and of the program are called; the exit code."""
import os
import pstats
import seen

seen.run_python("-m", "cProfile", "-o", "out.prof", "train.py", files={"train.py": seen.TRAINS + "sys.exit(6)\n"})
stats = pstats.Stats("out.prof").stats
os.remove("out.prof")
counts = {(file.split("/")[-1], name): row[0] for (file, _, name), row in stats.items()}
for key in (("functional.py", "mse_loss"), ("module.py", "_call_impl"), ("sgd.py", "step"), ("_tensor.py", "backward")):
    print(key, counts.get(key))
