"""A program in a zip file with a __main__.py."""
import zipfile
import seen

with zipfile.ZipFile("train.pyz", "w") as file:
    file.writestr("__main__.py", seen.TRAINS + "print(__file__.split('/')[-2:])\n")
seen.run_python("train.pyz", "an argument")
