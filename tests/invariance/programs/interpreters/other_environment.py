"""Another locale, hash seed, malloc, and an empty environment."""
import os
import seen

path = {"PYTHONPATH": os.environ["PYTHONPATH"]}
plain = {"LC_ALL": "C", "LANG": "C", "PYTHONHASHSEED": "5", "PYTHONUTF8": "0", **path}
seen.run_python("-c", seen.TRAINS, environment=plain)
seen.run_python("-c", seen.TRAINS, environment={"PYTHONMALLOC": "malloc", "PYTHONASYNCIODEBUG": "1", **path})
names = "print(sorted(name for name in os.environ if not name.startswith('TRAINWARDEN')))\n"
seen.run_python("-c", seen.TRAINS + names, environment=path)
