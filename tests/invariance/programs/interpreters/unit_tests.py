"""python -m unittest with tests that train, one that fails and one that is skipped; warnings are shown."""
import re
import seen

source = """import unittest
import seen


class Trains(unittest.TestCase):
    def test_one(self):
        net = seen.small_net()
        seen.train(net, 10)
        self.assertEqual(len(seen.digest(net)), 16)

    def test_two(self):
        self.assertEqual(1, 2)

    @unittest.skip("why not")
    def test_three(self):
        pass
"""
seen.run_python("-m", "unittest", "-v", "test_train", files={"test_train.py": source},
                without=re.compile(r"Ran \d+ tests"))  # fmt: skip
