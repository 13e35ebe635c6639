"""python -m trace --count: the lines of the program, as they were executed."""
import shutil
import seen

seen.run_python("-m", "trace", "--count", "--missing", "-C", "counts", "--ignore-dir=/usr:/root", "train.py",
                files={"train.py": seen.TRAINS})  # fmt: skip
with open("counts/train.cover") as cover:
    print(cover.read())
shutil.rmtree("counts")
