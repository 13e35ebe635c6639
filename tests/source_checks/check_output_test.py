"""check_output.py finds what prints past the one place where text leaves the command line."""
import unittest

from tree import TreeTest


class CheckOutputTest(TreeTest):
    def test_emit_passes_and_so_do_comments_and_files(self):
        self.write("src/ui/cli/good.cc", '// not std::cout\nemit("{}\\n", name);\nstd::fwrite(a, 1, n, stream);\n'
                                      "std::snprintf(buffer, n, f);\n")
        self.write("src/ui/cli/terminal/output.h", "fmt::print(stream, format);\n")
        code, output = self.run_script("check_output.py")
        self.assertEqual(code, 0, output)

    def test_each_direct_print_is_named_with_its_line(self):
        prints = ["fmt::print(stderr, x);", "std::cout << x;", "std::printf(x);", "fputs(x, stdout);", "std::perror(x);",
                  "fwrite(x, 1, n, stdout);", "::write(STDOUT_FILENO, x, n);"]
        self.write("src/ui/cli/bad.cc", "\n".join(prints) + "\n")
        code, output = self.run_script("check_output.py")
        self.assertEqual(code, 1, output)
        for number in range(1, len(prints) + 1):
            self.assertIn(f"src/ui/cli/bad.cc:{number}:", output)


if __name__ == "__main__":
    unittest.main()
