#include "ui/cli/terminal/terminal.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

Terminal with(std::map<std::string, std::string> variables, bool interactive = true) {
  return describe_terminal(interactive, 100, [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Terminal, ShowsColoursOfTheDepthThatItHas) {
  EXPECT_EQ(with({{"COLORTERM", "truecolor"}, {"TERM", "xterm-256color"}}).colors, ColorDepth::kTrueColor);
  EXPECT_EQ(with({{"TERM", "xterm-256color"}}).colors, ColorDepth::k256);
  EXPECT_EQ(with({{"TERM", "linux"}}).colors, ColorDepth::kNone);
}

TEST(Terminal, ObeysNoColorUnlessItIsEmpty) {
  EXPECT_EQ(with({{"NO_COLOR", "1"}, {"TERM", "xterm-256color"}}).colors, ColorDepth::kNone);
  EXPECT_EQ(with({{"NO_COLOR", ""}, {"TERM", "xterm-256color"}}).colors, ColorDepth::k256);
}

TEST(Terminal, APipeIsPlain) {
  const Terminal pipe = with({{"COLORTERM", "truecolor"}, {"LANG", "en_GB.UTF-8"}}, false);
  EXPECT_FALSE(pipe.interactive);
  EXPECT_FALSE(pipe.unicode);
  EXPECT_EQ(pipe.colors, ColorDepth::kNone);
}

TEST(Terminal, TheFirstLocaleThatIsSetDecidesOnUnicode) {
  EXPECT_TRUE(with({}).unicode);
  EXPECT_TRUE(with({{"LANG", "de_DE.UTF-8"}}).unicode);
  EXPECT_FALSE(with({{"LC_ALL", "C"}, {"LANG", "de_DE.UTF-8"}}).unicode);
  EXPECT_FALSE(with({{"TERM", "dumb"}, {"LANG", "de_DE.UTF-8"}}).unicode);
}

TEST(Terminal, KeepsADefaultWidthWhenNoneIsKnown) {
  EXPECT_EQ(describe_terminal(true, 0, [](const char*) { return nullptr; }).columns, 80);
}

}  // namespace
}  // namespace trainwarden::cli
