#include "measure/machine/kernel_file.h"

#include <sys/stat.h>

#include "measure/machine/machine_testing.h"
#include "measure/machine/words.h"

namespace trainwarden::machine {
namespace {

TEST(KernelFileTest, ReadsFromTheBeginningEachTime) {
  const TestMachine machine;
  machine.write("a", "one\n");
  FileBuffer buffer;
  KernelFile file(machine.root() / "a");
  EXPECT_EQ(file.read(buffer), "one\n");
  machine.write("a", "longer\n");
  EXPECT_EQ(file.read(buffer), "longer\n");
  EXPECT_EQ(file.read_once(buffer), "longer\n");
  EXPECT_EQ(file.read(buffer), "longer\n");
}

TEST(KernelFileTest, ReadsWhatIsLongerThanItsBuffer) {
  const TestMachine machine;
  const std::string text(100'000, 'x');
  machine.write("a", text);
  FileBuffer buffer;
  EXPECT_EQ(KernelFile(machine.root() / "a").read(buffer), text);
}

TEST(KernelFileTest, ReadsNoFolderNoPipeAndNothingEndless) {
  const TestMachine machine;
  machine.write("folder/a", "");
  ASSERT_EQ(::mkfifo((machine.root() / "pipe").c_str(), 0600), 0);
  FileBuffer buffer;
  EXPECT_EQ(KernelFile().read(buffer), std::nullopt);
  EXPECT_EQ(KernelFile(machine.root() / "none").read(buffer), std::nullopt);
  EXPECT_EQ(KernelFile(machine.root() / "folder").read(buffer), std::nullopt);
  EXPECT_EQ(KernelFile(machine.root() / "pipe").read(buffer), std::nullopt);
  EXPECT_EQ(KernelFile("/dev/zero").read(buffer), std::nullopt);
}

TEST(KernelFileTest, ListsNoMoreNamesThanAskedFor) {
  const TestMachine machine;
  for (const char* name : {"c", "a", "b"}) machine.write(name, "");
  EXPECT_EQ(names_in(machine.root(), 10), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(names_in(machine.root(), 2).size(), 2u);
  EXPECT_TRUE(names_in(machine.root() / "none", 10).empty());
}

TEST(WordsTest, SplitsLinesAndWords) {
  std::string_view text = "a  b\t c\n\ncut";
  auto line = next_line(text);
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(nth_word(*line, 2), "c");
  EXPECT_EQ(next_word(*line), "a");
  EXPECT_EQ(next_word(*line), "b");
  EXPECT_EQ(next_word(*line), "c");
  EXPECT_EQ(next_word(*line), "");
  EXPECT_EQ(next_line(text), "");
  EXPECT_EQ(next_line(text), std::nullopt);
}

TEST(WordsTest, TakesNothingForANumberThatIsNone) {
  EXPECT_EQ(to_number("0"), 0u);
  EXPECT_EQ(to_number("18446744073709551615"), UINT64_MAX);
  for (const char* none : {"", "-1", "+1", "1.5", "18446744073709551616", "0x10", "1 "})
    EXPECT_EQ(to_number(none), std::nullopt);
  EXPECT_EQ(number_behind("oom 1\noom_kill 2\n", "oom_kill"), 2u);
  EXPECT_EQ(number_behind("oom_kills 2\n", "oom_kill"), std::nullopt);
  EXPECT_EQ(only_number("12\n"), 12u);
  EXPECT_EQ(only_number("12"), std::nullopt);
}

}  // namespace
}  // namespace trainwarden::machine
