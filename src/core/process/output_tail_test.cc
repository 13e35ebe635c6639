#include "core/process/output_tail.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/process/descriptors.h"

namespace trainwarden::process {
namespace {

TEST(OutputTail, KeepsTheLastLinesInOnePrintableLine) {
  OutputTail tail(FileDescriptor(), 100);
  EXPECT_EQ(tail.last_lines(), "");
  tail.add("1\n2\n\n3\n4\n5\n6\n7\ta\n");
  tail.add("la\033[2Jst");
  EXPECT_EQ(tail.last_lines(), "3 / 4 / 5 / 6 / 7 a / la\\x1B[2Jst");
}

TEST(OutputTail, IsBounded) {
  OutputTail tail(FileDescriptor(), 4);
  tail.add("123456");
  tail.add("78");
  EXPECT_EQ(tail.text(), "5678");
  tail.clear();
  EXPECT_EQ(tail.text(), "");
}

TEST(OutputTail, ReadsWhatIsThereUntilThePipeCloses) {
  auto pipe = open_pipe();
  ASSERT_TRUE(pipe.ok());
  OutputTail tail(std::move(pipe->reading), 100);
  tail.read();
  EXPECT_EQ(tail.text(), "");
  ASSERT_EQ(::write(pipe->writing.get(), "text", 4), 4);
  tail.read();
  EXPECT_EQ(tail.text(), "text");
  EXPECT_GE(tail.number(), 0);
  pipe->writing = FileDescriptor();
  tail.read();
  EXPECT_EQ(tail.number(), -1) << "there is nothing to wait for any more";
}

}  // namespace
}  // namespace trainwarden::process
