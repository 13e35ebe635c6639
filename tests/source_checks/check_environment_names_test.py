"""check_environment_names.py finds environment variables that are written beside the lists of them."""
import unittest

from tree import TreeTest

LIST = """
inline constexpr const char* kRuns = "TRAINWARDEN_RUNS";  // for users
inline constexpr const char* kSms = "TRAINWARDEN_SMS_";  // a prefix
// == We set these for programs that we start.
inline constexpr const char* kNeeds = "TRAINWARDEN_NEEDS";
"""


class CheckEnvironmentNamesTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("src/core/base/run_variables.h", LIST)
        self.write("docs/reference/cli.md", "`TRAINWARDEN_RUNS` names the folder.\n")

    def check(self):
        return self.run_script("check_environment_names.py")

    def test_names_of_the_list_pass_in_texts_tests_and_python(self):
        self.write("src/ui/cli/good.cc", '// TRAINWARDEN_NEEDS\nemit("set TRAINWARDEN_RUNS=x");\nget(variable::kRuns);\n')
        self.write("src/ui/cli/good_test.cc", 'setenv("TRAINWARDEN_RUNS", "x", 1);\n')
        self.write("adapters/python/a.py", 'os.environ["TRAINWARDEN_NEEDS"], os.environ["TRAINWARDEN_SMS_URL"]\n')
        code, output = self.check()
        self.assertEqual(code, 0, output)

    def test_a_name_that_is_written_out_is_named_with_its_line(self):
        self.write("src/ui/cli/bad.cc", 'x;\ngetenv("TRAINWARDEN_RUNS");\nentries = {"TRAINWARDEN_NEEDS=0"};\n')
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("src/ui/cli/bad.cc:2:", output)
        self.assertIn("src/ui/cli/bad.cc:3:", output)

    def test_a_name_that_nobody_knows_is_found_in_each_language(self):
        self.write("src/ui/cli/text.cc", 'emit("set TRAINWARDEN_RUNZ");\n')
        self.write("adapters/python/a.py", 'os.environ["TRAINWARDEN_NEEEDS"]\n')
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("src/ui/cli/text.cc:1: TRAINWARDEN_RUNZ", output)
        self.assertIn("adapters/python/a.py:1: TRAINWARDEN_NEEEDS", output)

    def test_a_name_is_in_one_list(self):
        self.write("src/core/base/job_variables.h", 'inline constexpr const char* kAll = "TRAINWARDEN_RUNS";\n')
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("src/core/base/run_variables.h: TRAINWARDEN_RUNS is in src/core/base/job_variables.h too", output)

    def test_what_users_may_set_is_documented(self):
        self.write("docs/reference/cli.md", "Nothing.\n")
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("TRAINWARDEN_RUNS, and no page", output)
        self.assertNotIn("TRAINWARDEN_NEEDS, and no page", output)


if __name__ == "__main__":
    unittest.main()
