"""check_links.py follows the links of the Markdown files."""
import unittest

from tree import TreeTest


class CheckLinksTest(TreeTest):
    def check(self, text):
        self.write("docs/page.md", text)
        return self.run_script("check_links.py")

    def test_links_that_lead_somewhere_pass(self):
        self.write("README.md", "# Why `frames`?\n[page](docs/page.md) [web](https://example.org/none)\n")
        code, output = self.check("[up](../README.md#why-frames) [here](#own)\n## Own\n")
        self.assertEqual(code, 0, output)

    def test_a_missing_file_is_named(self):
        code, output = self.check("[gone](gone.md)\n")
        self.assertEqual(code, 1)
        self.assertIn("docs/page.md: a link leads to gone.md, which does not exist", output)

    def test_a_missing_heading_is_named(self):
        code, output = self.check("# One\n[two](#two)\n")
        self.assertEqual(code, 1)
        self.assertIn("#two", output)

    def test_a_missing_picture_is_named(self):
        code, output = self.check("![it at work](images/demo.png)\n")
        self.assertEqual(code, 1)
        self.assertIn("images/demo.png", output)

    def test_code_blocks_hold_no_links(self):
        code, output = self.check("```\n[x](gone.md)\n```\n")
        self.assertEqual(code, 0, output)


if __name__ == "__main__":
    unittest.main()
