"""check_headers.py finds a header that does not compile alone."""
import unittest

from tree import TreeTest


class CheckHeadersTest(TreeTest):
    def check(self):
        return self.run_script("check_headers.py", "--compiler", "g++")

    def test_a_header_that_stands_alone_passes(self):
        self.write("include/trainwarden/good.h", "#pragma once\n#include <string>\ninline std::string text;\n")
        code, output = self.check()
        self.assertEqual(code, 0, output)

    def test_a_header_that_leans_on_another_is_named(self):
        self.write("include/trainwarden/bad.h", "#pragma once\ninline std::string text;\n")
        code, output = self.check()
        self.assertEqual(code, 1, output)
        self.assertIn("include/trainwarden/bad.h (g++)", output)

    def test_no_header_at_all_is_not_a_pass(self):
        code, output = self.check()
        self.assertEqual(code, 1, output)


if __name__ == "__main__":
    unittest.main()
