"""A small source tree in a temporary folder, for the tests of scripts that check sources."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"


class TreeTest(unittest.TestCase):
    """Writes files into self.root and runs a script of scripts/ on it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text=""):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run_script(self, name, *arguments):
        """The exit code and the output of the script."""
        result = subprocess.run([sys.executable, SCRIPTS / name, str(self.root), *arguments],
                                capture_output=True, text=True, check=False)
        return result.returncode, result.stdout + result.stderr
