// Short writes: a pipe takes what it has room for, so that every write ends in the middle of some part.
#include "store/storage/gather_write.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

namespace trainwarden::storage {
namespace {

// A pipe of which neither end waits.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_, O_NONBLOCK), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  int in() const { return ends_[1]; }

  // Takes out up to `limit_bytes` of what is inside.
  std::string drain(std::size_t limit_bytes) {
    std::string text(limit_bytes, '\0');
    const ssize_t got = ::read(ends_[0], text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

 private:
  int ends_[2] = {-1, -1};
};

TEST(GatherWriteTest, ShortWritesGoOnWhereTheyStopped) {
  std::vector<std::string> texts;
  std::string expected;
  for (std::size_t i = 0; i < 3000; ++i) {
    texts.emplace_back(i * 37 % 501, static_cast<char>('a' + i % 26));
    expected += texts.back();
  }
  const std::vector<ByteSpan> parts = [&] {
    std::vector<ByteSpan> spans;
    for (const std::string& text : texts) spans.push_back(as_bytes(text));
    return spans;
  }();

  Pipe pipe;
  GatherWrite gather(parts);
  std::string received;
  while (!gather.done()) {
    const std::ptrdiff_t written = gather.write_some(pipe.in(), 100'000);
    if (written < 0) {
      ASSERT_EQ(errno, EAGAIN);
      received += pipe.drain(4097);
    }
  }
  for (std::string rest = pipe.drain(4097); !rest.empty(); rest = pipe.drain(4097)) received += rest;
  EXPECT_EQ(received, expected);
}

TEST(GatherWriteTest, WritesNoMoreThanTheLimit) {
  Pipe pipe;
  const std::vector<ByteSpan> parts = {as_bytes("abc"), as_bytes(""), as_bytes("defgh")};
  GatherWrite gather(parts);
  EXPECT_EQ(gather.write_some(pipe.in(), 5), 5);
  EXPECT_EQ(pipe.drain(100), "abcde");
  EXPECT_EQ(gather.write_some(pipe.in(), 5), 3);
  EXPECT_EQ(pipe.drain(100), "fgh");
  EXPECT_TRUE(gather.done());
}

TEST(GatherWriteTest, NothingIsDoneAtOnce) {
  EXPECT_TRUE(GatherWrite({}).done());
  const std::vector<ByteSpan> empty_parts = {as_bytes(""), as_bytes("")};
  EXPECT_TRUE(GatherWrite(empty_parts).done());
}

}  // namespace
}  // namespace trainwarden::storage
