#include "react/actions/command_words.h"

#include <gtest/gtest.h>

namespace trainwarden::actions {
namespace {

using Words = std::vector<std::string>;

TEST(SplitCommand, AsAShellWould) {
  EXPECT_EQ(*split_command("python3 handler.py --fast"), (Words{"python3", "handler.py", "--fast"}));
  EXPECT_EQ(*split_command("  a\t b \n"), (Words{"a", "b"}));
  EXPECT_EQ(*split_command("a 'b c' d\"e f\"g"), (Words{"a", "b c", "de fg"}));
  EXPECT_EQ(*split_command("a '' \"\""), (Words{"a", "", ""}));
  EXPECT_EQ(*split_command(R"(my\ handler \'x \|)"), (Words{"my handler", "'x", "|"}));
  EXPECT_EQ(*split_command(R"(a "q\"b\\n\$HOME \x")"), (Words{"a", R"(q"b\n$HOME \x)"}));
  EXPECT_EQ(*split_command(R"(a 'q\x "$HOME" | > `')"), (Words{"a", R"(q\x "$HOME" | > `)"}));
  EXPECT_EQ(*split_command("a ~/x *.py #b"), (Words{"a", "~/x", "*.py", "#b"}));
}

TEST(SplitCommand, WhatIsNoCommand) {
  for (const char* text : {"", "  ", "a 'b", "a \"b", "a \\"}) {
    EXPECT_EQ(split_command(text).status().code(), Code::kInvalidArgument) << text;
  }
}

TEST(SplitCommand, WhatOnlyAShellUnderstands) {
  for (const char* text : {"a | b", "a > f", "a < f", "a && b", "a; b", "a $HOME", "a \"$HOME\"", "a `b`", "(a)"}) {
    const Status status = split_command(text).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << text;
    EXPECT_NE(status.message().find("no shell runs it"), std::string::npos) << status.message();
  }
  EXPECT_NE(split_command("ab | c").status().message().find("a | at its character 4"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::actions
