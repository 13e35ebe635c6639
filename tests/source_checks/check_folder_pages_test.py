"""check_folder_pages.py wants a page in each wing and floor, and finds names in it that lead nowhere."""
import json
import unittest

from tree import TreeTest

FLOORS = {
    "wings": [{"name": "core", "holds": ""}],
    "floors": [{"name": "base", "folder": "src/core/base", "holds": "", "includes": []}],
    "above": [{"folder": "adapters/python", "holds": "", "includes": ""}],
    "page": [{"name": "data", "holds": "", "includes": []}],
}
FOLDERS = ("src/core", "src/core/base", "adapters/python", "web/src/data", "tests", "bench", "fuzz",
           "scripts", "examples", "testdata")


class CheckFolderPagesTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("src/floors.json", json.dumps(FLOORS))
        self.write("src/core/base/clock.h")
        for folder in FOLDERS:
            self.write(f"{folder}/README.md", "# It\n\nHolds things.\n")

    def check(self, page=None, where="src/core/base"):
        if page is not None:
            self.write(f"{where}/README.md" if where else "CONTRIBUTING.md", page)
        return self.run_script("check_folder_pages.py")

    def test_names_of_files_and_folders_pass_however_they_are_written(self):
        code, output = self.check("`clock.h`, `core/base/clock.h`, `src/core`, `../base/`, `Clock`, `fork`, `a.b()`, "
                                  "`*_test.cc`, `<name>.cc`, `std::string`\n")
        self.assertEqual(code, 0, output)

    def test_a_folder_without_a_page_is_named(self):
        for folder in FOLDERS:
            page = self.root / folder / "README.md"
            page.unlink()
            code, output = self.check()
            self.assertEqual(code, 1, folder)
            self.assertIn(f"{folder}: expected a README.md", output)
            page.write_text("# It\n")

    def test_a_name_that_leads_nowhere_is_found(self):
        for path in ("log.h", "src/core/gone", "staging/"):
            code, output = self.check(f"Read `{path}`.\n")
            self.assertEqual(code, 1, path)
            self.assertIn(f"src/core/base/README.md: {path} does not exist", output)

    def test_what_contributors_are_told_exists_too(self):
        self.assertEqual(self.check("`src/core/base/clock.h`\n", where="")[0], 0)
        code, output = self.check("`src/core/base/log.h`\n", where="")
        self.assertEqual(code, 1)
        self.assertIn("CONTRIBUTING.md: src/core/base/log.h does not exist", output)

    def test_a_page_is_short(self):
        code, output = self.check("line\n" * 40)
        self.assertEqual(code, 1)
        self.assertIn("src/core/base/README.md: 40 lines", output)


if __name__ == "__main__":
    unittest.main()
