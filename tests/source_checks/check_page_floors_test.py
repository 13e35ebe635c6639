"""check_page_floors.py keeps the page's folders apart."""
import unittest

from tree import TreeTest


class CheckPageFloorsTest(TreeTest):
    def check(self, path, text):
        self.write(f"web/src/{path}", text)
        return self.run_script("check_page_floors.py")

    def test_imports_downwards_pass(self):
        code, output = self.check("views/rules/board.ts", "import type { View } from '../view';\n"
                                                          "import { decodeArrays } from '../../data/safetensors';\n")
        self.assertEqual(code, 0, output)

    def test_imports_upwards_are_named(self):
        code, output = self.check("data/source.ts", "import { ramp } from '../draw/colours';\n")
        self.assertEqual(code, 1)
        self.assertIn("web/src/data/source.ts:1", output)
        self.assertIn("data may import no other folder", output)

    def test_imports_over_several_lines_are_found(self):
        code, output = self.check("draw/svg.ts", "import {\n  App,\n  other,\n} from '../app/app';\n")
        self.assertEqual(code, 1)
        self.assertIn("of app", output)

    def test_a_lazy_import_is_found(self):
        code, output = self.check("draw/svg.ts", "const app = () => import('../app/app');\n")
        self.assertEqual(code, 1, output)

    def test_views_know_nothing_of_each_other(self):
        code, output = self.check("views/rules/board.ts", "import { Grid } from '../tensors/grid';\n")
        self.assertEqual(code, 1)
        self.assertIn("of another view", output)

    def test_a_framework_stays_in_the_shell(self):
        code, output = self.check("views/rules/board.ts", "import { mount } from 'svelte';\n")
        self.assertEqual(code, 1)
        self.assertIn("only in app", output)

    def test_a_library_must_be_known(self):
        code, output = self.check("app/main.ts", "import x from 'left-pad';\n")
        self.assertEqual(code, 1)
        self.assertIn("LIBRARIES", output)

    def test_no_files_are_a_failure(self):
        code, _ = self.run_script("check_page_floors.py")
        self.assertEqual(code, 1)


if __name__ == "__main__":
    unittest.main()
