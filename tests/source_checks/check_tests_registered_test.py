"""check_tests_registered.py finds the tests, fuzz targets and benchmarks that nothing builds."""
import unittest

from tree import TreeTest


class CheckTestsRegisteredTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("CMakeLists.txt", "add_subdirectory(src/core/base)\nadd_subdirectory(fuzz)\n")
        self.write("src/core/base/CMakeLists.txt", "tw_tests(base_test SOURCES text_test.cc)\n")
        self.write("src/core/base/text_test.cc")
        self.write("fuzz/CMakeLists.txt", "tw_fuzz(fuzz_frame tw_format)\n")
        self.write("fuzz/fuzz_frame.cc")

    def check(self):
        return self.run_script("check_tests_registered.py")

    def assert_missing(self, path):
        code, output = self.check()
        self.assertEqual(code, 1, output)
        self.assertIn(path, output)

    def test_a_tree_that_registers_all_passes(self):
        code, output = self.check()
        self.assertEqual(code, 0, output)

    def test_floors_are_reached_by_their_table(self):
        self.write("CMakeLists.txt", "add_subdirectory(${tw_folder_${floor}})\nadd_subdirectory(fuzz)\n")
        self.assertEqual(self.check()[0], 0)
        self.write("src/store/storage/lease_test.cc")
        self.write("src/store/storage/CMakeLists.txt", "tw_tests(storage_tests SOURCES other_test.cc)\n")
        self.assert_missing("src/store/storage/lease_test.cc")

    def test_a_forgotten_test_is_named(self):
        self.write("src/core/base/clock_test.cc")
        self.assert_missing("src/core/base/clock_test.cc")

    def test_a_forgotten_fuzz_target_is_named(self):
        self.write("fuzz/fuzz_records.cc")
        self.assert_missing("fuzz/fuzz_records.cc")

    def test_a_comment_does_not_register(self):
        self.write("src/core/base/clock_test.cc")
        self.write("src/core/base/CMakeLists.txt", "tw_tests(base_test SOURCES text_test.cc) # clock_test.cc\n")
        self.assert_missing("src/core/base/clock_test.cc")

    def test_a_program_of_the_same_name_does_not_register_a_test(self):
        self.write("src/core/base/base_test.cc")
        self.assert_missing("src/core/base/base_test.cc")

    def test_a_folder_that_is_not_reached_does_not_register(self):
        self.write("src/data/tensor/CMakeLists.txt", "tw_tests(tensor_test SOURCES shape_test.cc)\n")
        self.write("src/data/tensor/shape_test.cc")
        self.assert_missing("src/data/tensor/shape_test.cc")

    def test_the_same_name_in_another_folder_does_not_register(self):
        self.write("CMakeLists.txt", "add_subdirectory(src/core/base)\nadd_subdirectory(src/data/tensor)\nadd_subdirectory(fuzz)\n")
        self.write("src/data/tensor/CMakeLists.txt")
        self.write("src/data/tensor/text_test.cc")
        self.assert_missing("src/data/tensor/text_test.cc")


if __name__ == "__main__":
    unittest.main()
