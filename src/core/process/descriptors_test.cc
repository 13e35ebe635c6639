#include "core/process/descriptors.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/folder_testing.h"

namespace trainwarden::process {
namespace {

TEST(Descriptors, APipeIsReadWithoutWaiting) {
  auto pipe = open_pipe();
  ASSERT_TRUE(pipe.ok());
  char byte = 0;
  EXPECT_EQ(::read(pipe->reading.get(), &byte, 1), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(::write(pipe->writing.get(), "x", 1), 1);
  EXPECT_EQ(::read(pipe->reading.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
}

TEST(Descriptors, AMemoryFileIsReadFromItsStart) {
  const auto file = open_memory_file("all of it");
  ASSERT_TRUE(file.ok());
  char text[20] = {};
  EXPECT_EQ(::read(file->get(), text, sizeof text), 9);
  EXPECT_STREQ(text, "all of it");
}

TEST(Descriptors, AnOutputFileIsEmptiedFirst) {
  const TestFolder folder;
  const std::string path = (folder.path() / "out").string();
  std::ofstream(path) << "old and long";
  const auto file = open_output_file(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(::write(file->get(), "new", 3), 3);
  std::ifstream in(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "new");
  EXPECT_EQ(open_output_file((folder.path() / "no" / "out").string()).status().code(), Code::kNotFound);
}

// A training may have been started with its standard streams closed.
TEST(Descriptors, NoneHasTheNumberOfAStandardStream) {
  const FileDescriptor input(::dup(STDIN_FILENO));
  ::close(STDIN_FILENO);
  const auto pipe = open_pipe();
  const auto sockets = open_socket_pair();
  const auto null = open_null();
  ::dup2(input.get(), STDIN_FILENO);
  ASSERT_TRUE(pipe.ok() && sockets.ok() && null.ok());
  for (const int number :
       {pipe->reading.get(), pipe->writing.get(), sockets->ours.get(), sockets->theirs.get(), null->get()}) {
    EXPECT_GT(number, STDERR_FILENO);
  }
}

}  // namespace
}  // namespace trainwarden::process
