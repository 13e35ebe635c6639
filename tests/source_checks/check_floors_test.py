"""check_floors.py passes a tree that keeps the floors and names each include that does not."""
import unittest

from tree import TreeTest


class CheckFloorsTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("src/core/base/bytes.h", "#include <cstdint>\n")
        self.write("src/data/format/frame.h", '#include "core/base/bytes.h"\n')

    def check(self):
        return self.run_script("check_floors.py")

    def assert_refused(self, path, text, expected):
        self.write(path, text)
        code, output = self.check()
        self.assertEqual(code, 1, output)
        self.assertIn(expected, output)

    def test_a_good_tree_passes(self):
        self.write("include/trainwarden/trial.h", '#include "trainwarden/status.h"\n#include <vector>\n')
        self.write("src/read/trial/x.cc", '#include <fmt/format.h>\n#include <sys/mman.h>\n#include "data/format/frame.h"\n')
        code, output = self.check()
        self.assertEqual(code, 0, output)

    def test_an_empty_tree_is_not_a_pass(self):
        for path in ("src/core/base/bytes.h", "src/data/format/frame.h"):
            (self.root / path).unlink()
        code, output = self.check()
        self.assertEqual(code, 1, output)

    def test_a_floor_may_not_include_upwards(self):
        self.assert_refused("src/core/base/log.cc", '#include "data/format/frame.h"\n',
                            'src/core/base/log.cc:1: "data/format/frame.h" is of floor format')

    def test_a_floor_may_not_include_its_neighbour(self):
        self.write("src/hook/capture/ring.h")
        self.assert_refused("src/read/trial/x.cc", '\n#include "hook/capture/ring.h"\n', "src/read/trial/x.cc:2:")

    def test_public_headers_have_floors_too(self):
        self.assert_refused("src/store/journal/x.cc", '#include "trainwarden/hook.h"\n', "is of floor capture")

    def test_actions_may_see_verdicts_but_not_trials(self):
        self.write("src/react/actions/stop.cc", '#include "trainwarden/rule.h"\n')
        self.assertEqual(self.check()[0], 0)
        self.assert_refused("src/react/actions/stop.cc", '#include "trainwarden/trial.h"\n', "is of floor trial")

    def test_public_headers_reach_the_standard_library_only(self):
        for header in ("nlohmann/json.hpp", "torch/torch.h", "fmt/format.h", "curl/curl.h"):
            self.assert_refused("include/trainwarden/hook.h", f"#include <{header}>\n", "hook.h:1:")
        self.assert_refused("include/trainwarden/hook.h", '#include "core/base/bytes.h"\n', "is internal")

    def test_folders_of_a_trainer_keep_their_order(self):
        self.write("trainers/bert/text/tokenizer.h", "#include <string>\n")
        self.write("trainers/bert/squad/windows.h", '#include "text/tokenizer.h"\n')
        self.write("fuzz/fuzz_text.cc", '#include "text/tokenizer.h"\n')
        self.assertEqual(self.check()[0], 0)
        self.assert_refused("trainers/bert/text/words.cc", '#include "squad/windows.h"\n', "text may include files")
        self.assert_refused("trainers/bert/files/reading.cc", '#include "text/tokenizer.h"\n', "files may include no other folder")
        self.assert_refused("trainers/bert/text/words.cc", "#include <torch/utils.h>\n", "words.cc:1:")
        self.assert_refused("bench/x.cc", '#include "text/tokenizer.h"\n', "lends it to nobody here")

    def test_no_request_reaches_rule_files(self):
        self.write("src/judge/rules/registry.h")
        self.write("src/ui/views/good.cc", '#include "judge/rules/registry.h"\n')
        self.assertEqual(self.check()[0], 0)
        for line in ("  auto rule = create_rule(spec);", '#include "judge/rules/hosting/hosted_rule.h"',
                     "  parse_rule_spec(text);"):
            self.write("src/judge/rules/hosting/hosted_rule.h")
            self.assert_refused("src/ui/views/x.cc", line + "\n", "no request may reach rule files")

    def test_rules_that_open_files_are_named(self):
        self.write("src/judge/rules/builtin/tensors/similar_across_runs.cc", "#include <filesystem>\n")
        self.assertEqual(self.check()[0], 0)
        self.assert_refused("src/judge/rules/builtin/tensors/x.cc", "#include <filesystem>\n", "belongs to file_rules()")

    def test_torch_stays_in_the_adapter(self):
        self.write("adapters/libtorch/watch.cc", "#include <torch/nn/module.h>\n")
        self.assertEqual(self.check()[0], 0)
        self.assert_refused("src/hook/capture/x.cc", "#include <ATen/core/Tensor.h>\n", "may be included only in adapters")

    def test_adapters_see_public_headers_only(self):
        self.assert_refused("adapters/libtorch/watch.cc", '#include "core/base/bytes.h"\n', "is internal")

    def test_a_header_that_is_lent_is_for_one_adapter(self):
        self.write("adapters/python/core/x.cc", '#include "ui/answers/answers.h"\n')
        self.assertEqual(self.check()[0], 0)
        self.assert_refused("adapters/libtorch/x.cc", '#include "ui/answers/answers.h"\n', "is internal")

    def test_the_format_has_no_files(self):
        self.assert_refused("src/data/format/x.cc", "#include <fstream>\n", "is I/O")

    def test_a_new_public_header_needs_a_floor(self):
        self.assert_refused("include/trainwarden/new.h", "", "without a floor")

    def test_a_folder_that_is_no_floor_is_refused(self):
        self.assert_refused("src/misc/x.cc", "", "not on a floor")

    def test_an_include_must_say_its_floor(self):
        self.assert_refused("src/core/base/x.cc", '#include "bytes.h"\n', "is neither")
        self.assert_refused("src/core/base/x.cc", "#include <trainwarden/status.h>\n", "with quotes")

    def test_an_unknown_library_is_refused(self):
        self.assert_refused("src/core/base/x.cc", "#include <lz4.h>\n", "not in LIBRARIES")


if __name__ == "__main__":
    unittest.main()
