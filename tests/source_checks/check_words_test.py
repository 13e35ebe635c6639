"""check_words.py finds type names that two headers define, functions called tell, and product code called test_."""
import unittest

from tree import TreeTest


class CheckWordsTest(TreeTest):
    def check(self):
        return self.run_script("check_words.py")

    def test_a_type_of_two_headers_is_named_with_both_places(self):
        self.write("include/trainwarden/a.h", "namespace trainwarden {\nclass TRAINWARDEN_API Lane final : public Base {\n};\n}\n")
        self.write("src/data/b.h", "namespace trainwarden::data {\n\ntemplate <class T>\nstruct Lane {\n};\n}\n")
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("include/trainwarden/a.h:2, src/data/b.h:4: the type Lane", output)

    def test_enumerations_unions_and_aliases_count(self):
        self.write("src/data/a.h", "enum class Kind : int { kOne };\nusing Address = unsigned;\nunion Cell { int a; };\n")
        self.write("src/data/b.h", "using Kind = int;\nstruct Address {};\nclass Cell {};\n")
        code, output = self.check()
        self.assertEqual(code, 1)
        for name in ("Kind", "Address", "Cell"):
            self.assertIn(f"the type {name} is", output)

    def test_what_may_repeat(self):
        first = ("class Lane;\n// struct Lane {\nclass A {\n  struct State {};\n  enum class Kind { kOne };\n};\n"
                 "inline void f() { struct Local {}; }\n#define X struct Lane {\nusing data::Lane;\n")
        self.write("src/data/a.h", first)
        self.write("src/data/b.h", first.replace("class A", "class B") + "template <>\nstruct hash<A> {};\n"
                   "class A::Impl {\n};\n")
        self.write("src/data/c.h", "struct Lane {};\ntemplate <>\nstruct hash<B> {};\nclass B::Impl {\n};\n")
        self.write("src/data/d.cc", "struct Lane {};\n")
        code, output = self.check()
        self.assertEqual(code, 0, output)

    def test_functions_called_tell_and_product_code_called_test(self):
        self.write("src/data/a.cc", 'void tell_all(int x);\n// tell(x)\nlog("tell(x)"); retell(x); foretold(y);\nboard->told(1);\n')
        self.write("src/data/test_parser.cc", "")
        self.write("src/data/parser_test.cc", "")
        self.write("src/data/parser_testing.h", "")
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertEqual([line.partition(" ")[0] for line in output.splitlines()],
                         ["src/data/a.cc:1:", "src/data/a.cc:4:", "src/data/test_parser.cc:"])


if __name__ == "__main__":
    unittest.main()
