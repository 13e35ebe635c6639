"""check_disk.py finds what reaches for a disk past the storage of a run."""
import unittest

from tree import TreeTest


class CheckDiskTest(TreeTest):
    def test_a_storage_may_and_so_do_tests_and_comments(self):
        self.write("src/store/storage/local_storage.cc", "const int file = ::open(path, O_RDONLY);\n")
        self.write("src/ui/views/look_test.cc", "std::ofstream(path);\n")
        self.write("src/ui/views/look.cc", "// not std::ifstream\n#include <fstream>\nrun.storage().open(path);\n"
                                        "Trial::open(run);\nstorage.rename_all(x);\n")
        code, output = self.run_script("check_disk.py")
        self.assertEqual(code, 0, output)

    def test_each_touch_is_named_with_its_line(self):
        touches = ["std::ifstream file(path);", "fs::directory_iterator entries(path);", "::open(path, O_RDONLY);",
                   "std::filesystem::exists(path);", "storage::open_local_storage(path);", "stat(path, &info);",
                   "opendir(path);", "storage::Beneath beneath(path);"]
        self.write("src/ui/views/look.cc", "\n".join(touches) + "\n")
        code, output = self.run_script("check_disk.py")
        self.assertEqual(code, 1, output)
        for number in range(1, len(touches) + 1):
            self.assertIn(f"src/ui/views/look.cc:{number}:", output)

    def test_files_of_the_users_own_are_known(self):
        self.write("src/react/actions/secret.cc", "::open(path, O_RDONLY);\n")
        code, output = self.run_script("check_disk.py")
        self.assertEqual(code, 0, output)


if __name__ == "__main__":
    unittest.main()
