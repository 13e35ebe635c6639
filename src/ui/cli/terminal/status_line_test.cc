#include "ui/cli/terminal/status_line.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

template <class Write>
std::string written_by(bool interactive, Write write) {
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* stream = open_memstream(&text, &bytes);
  {
    StatusLine line(stream, Terminal{.interactive = interactive, .columns = 10});
    write(line);
  }
  std::fclose(stream);
  std::string result(text, bytes);
  std::free(text);
  return result;
}

TEST(StatusLine, IsRewrittenAndLeavesNothingBehind) {
  EXPECT_EQ(written_by(true,
                       [](StatusLine& line) {
                         line.show("step 1");
                         line.show("step 2");
                       }),
            "\r\x1b[Kstep 1\r\x1b[Kstep 2\r\x1b[K");
}

TEST(StatusLine, LinesThatStayComeAboveIt) {
  EXPECT_EQ(written_by(true,
                       [](StatusLine& line) {
                         line.show("step 1");
                         line.print("a rule fired");
                       }),
            "\r\x1b[Kstep 1\r\x1b[Ka rule fired\n");
}

TEST(StatusLine, ShowsNothingInAPipe) {
  EXPECT_EQ(written_by(false,
                       [](StatusLine& line) {
                         line.show("step 1");
                         line.print("a rule fired");
                       }),
            "a rule fired\n");
}

TEST(StatusLine, FitsTheTerminal) {
  EXPECT_EQ(written_by(true, [](StatusLine& line) { line.show("0123456789abc"); }), "\r\x1b[K012345678\r\x1b[K");
  EXPECT_EQ(shorten("größe", 3), "grö");
  EXPECT_EQ(shorten("abc", 3), "abc");
}

}  // namespace
}  // namespace trainwarden::cli
