"""python -m package.train, with relative imports, __main__ in a package, and a file that is found by its name."""
import os
import seen

os.makedirs("pack/inner")
for path, text in {
    "pack/__init__.py": "", "pack/__main__.py": seen.TRAINS + "print(__name__, __package__, __spec__.name)\n",
    "pack/inner/__init__.py": "value = 5\n",
    "pack/train.py": "from .inner import value\n" + seen.TRAINS + "print(value)\n",
}.items():  # fmt: skip
    with open(path, "w") as file:
        file.write(text)
seen.run_python("-m", "pack")
seen.run_python("-m", "pack.train")
