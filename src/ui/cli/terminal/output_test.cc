#include "ui/cli/terminal/output.h"

#include <gtest/gtest.h>

#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

// What emit() wrote.
template <class... Args>
std::string emitted(fmt::format_string<Shown<Args>...> format, const Args&... args) {
  std::FILE* file = std::tmpfile();
  emit(file, format, args...);
  std::rewind(file);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

constexpr const char* kHostile = "a\x1b[31m\xc2\x9b\xe2\x80\xae\xd8\x9c\nb";
constexpr const char* kShownHostile = "a\\x1B[31m\\xC2\\x9B\\xE2\\x80\\xAE\\xD8\\x9C\\x0Ab";

TEST(OutputTest, TextOfWhateverTypeIsShownAndNumbersAreFormatted) {
  EXPECT_EQ(emitted("{}\n", kHostile), std::string(kShownHostile) + "\n");
  EXPECT_EQ(emitted("{}\n", std::string(kHostile)), std::string(kShownHostile) + "\n");
  EXPECT_EQ(emitted("{}\n", std::string_view(kHostile)), std::string(kShownHostile) + "\n");
  const std::vector<std::string> list = {kHostile, "c"};
  EXPECT_EQ(emitted("{}\n", fmt::join(list, ", ")), std::string(kShownHostile) + ", c\n");
  EXPECT_EQ(emitted("{}{}", 'c', '\x1b'), "c\\x1B");
  EXPECT_EQ(emitted("{:.2f} {:>3} {}\n", 0.125, 7, true), "0.12   7 true\n");
}

TEST(OutputTest, LinesKeepTheirEndsAndNothingElse) {
  EXPECT_EQ(emitted("{}", Lines{"one\ntwo \x1b[2J\n"}), "one\ntwo \\x1B[2J\n");
  EXPECT_EQ(emitted("{}", Painted{"\x1b[1mours\n"}), "\x1b[1mours\n");
}

TEST(OutputTest, WhatAStatusQuotesStandsWhereNoLineOfOursBegins) {
  EXPECT_EQ(emitted("error: {}\n", Message{"expected a rule\n  l3(x) > 3\n  ^^"}),
            "error: expected a rule\n  l3(x) > 3\n  ^^\n");
  EXPECT_EQ(emitted("error: {}\n", Message{"no file\ntrainwarden: all is well \x1b[2J"}),
            "error: no file\n  trainwarden: all is well \\x1B[2J\n");
}

TEST(OutputTest, CellsOfATableAreShown) {
  Table table({{"NAME"}});
  table.add_row({kHostile});
  EXPECT_EQ(table.to_string(), "NAME\n" + std::string(kShownHostile) + "\n");
}

TEST(OutputTest, JsonEscapesWhatDrivesATerminal) {
  EXPECT_EQ(OrderedJson::parse(to_text(OrderedJson{{"x", kHostile}})).at("x"), kHostile);
  const std::string text = to_text(OrderedJson{{"x", kHostile}});
  for (const char* mark : {"\x1b", "\xc2\x9b", "\xe2\x80\xae", "\xd8\x9c"}) {
    EXPECT_EQ(text.find(mark), std::string::npos) << text;
  }
  EXPECT_EQ(OrderedJson::parse(to_text(OrderedJson{{"x", "\xff"}})).at("x"), "\xef\xbf\xbd");
}

}  // namespace
}  // namespace trainwarden::cli
