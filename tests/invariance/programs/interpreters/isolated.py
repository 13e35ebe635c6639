"""python -I, -E and -P, with the path of the program's helper given by hand."""
import os
import seen

there = f"import sys; sys.path.append({os.path.dirname(seen.__file__)!r})\n"
for option in ("-I", "-E", "-P"):
    seen.run_python(option, "-c", there + seen.TRAINS)
