"""check_walks.py finds the functions that the walks through the code name."""
import unittest

from tree import TreeTest

WRITER_H = """class Writer {
 public:
  Status append(int step);
  bool full() const { return limit() == 0; }
};
int limit();
"""
WRITER_CC = """Status Writer::append(int step) {
  other.write(step);
  return seal(step);
}
class Writer::Impl {
 public:
  void run() {
    wait();
  }
};
Result<int>
Writer::size() {}
"""


class CheckWalksTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("src/writer.h", WRITER_H)
        self.write("src/writer.cc", WRITER_CC)

    def check(self, *stops):
        self.write("docs/walks/tensor.md", "# A tensor\n\n| | file | function | what |\n|---|---|---|---|\n"
                   + "".join(f"| {number} | `{path}` | `{name}` | It writes. |\n" for number, path, name in stops))
        return self.run_script("check_walks.py")

    def test_stops_that_are_there_pass(self):
        self.write("a.py", "class Hook:\n    def save(self):\n        pass\n\ndef open(path):\n    pass\n")
        self.write("a.ts", "export class Api {\n  async value<T>(id: string): Promise<T> {\n  }\n}\n"
                           "export function decode(x: number) {}\n")
        code, output = self.check((1, "src/writer.cc", "Writer::append"), (2, "src/writer.h", "Writer::append"),
                                  (3, "src/writer.h", "limit"), (4, "src/writer.cc", "Writer::Impl::run"),
                                  (5, "src/writer.h", "Writer"), (6, "a.py", "Hook.save"), (7, "a.py", "open"),
                                  (8, "a.ts", "Api.value"), (9, "a.ts", "decode"), (10, "src/writer.cc", "Writer::size"))
        self.assertEqual(code, 0, output)

    def test_a_function_that_is_only_called_is_not_there(self):
        for name in ("Writer::seal", "Writer::write", "seal", "append", "Other::append", "Writer::Impl::wait"):
            code, output = self.check((1, "src/writer.cc", name))
            self.assertEqual(code, 1, name)
            self.assertIn(f"docs/walks/tensor.md: stop 1: `src/writer.cc` does not define or declare `{name}`", output)

    def test_a_method_is_looked_for_in_its_own_class(self):
        self.write("a.py", "class Hook:\n    pass\n\nclass Trial:\n    def save(self):\n        pass\n")
        self.assertEqual(self.check((1, "a.py", "Hook.save"))[0], 1)
        self.assertEqual(self.check((1, "src/writer.h", "Writer::limit"))[0], 1)

    def test_a_file_that_is_gone_is_named(self):
        code, output = self.check((1, "src/gone.cc", "Writer::append"))
        self.assertEqual(code, 1)
        self.assertIn("stop 1: `src/gone.cc` does not exist", output)

    def test_stops_are_counted(self):
        code, output = self.check((1, "src/writer.h", "limit"), (3, "src/writer.h", "limit"))
        self.assertEqual(code, 1)
        self.assertIn("stop 3 should be number 2", output)

    def test_a_walk_without_stops_is_no_walk(self):
        self.assertEqual(self.check()[0], 1)
        (self.root / "docs/walks/tensor.md").unlink()
        self.assertEqual(self.run_script("check_walks.py")[0], 1)


if __name__ == "__main__":
    unittest.main()
