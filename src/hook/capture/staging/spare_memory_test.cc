#include "hook/capture/staging/spare_memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/base/folder_testing.h"

namespace trainwarden::capture {
namespace {

class SpareMemory : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  const TestFolder folder_;
  const std::filesystem::path root_ = folder_.path();
};

TEST_F(SpareMemory, IsWhatTheMachineHas) {
  EXPECT_EQ(spare_memory_bytes(root_), std::nullopt) << "nothing reports it";
  write("proc/meminfo", "MemTotal:       2000 kB\nMemAvailable:    500 kB\n");
  EXPECT_EQ(spare_memory_bytes(root_), 500u * 1024);
}

TEST_F(SpareMemory, OrWhatItsContainerHas) {
  write("proc/meminfo", "MemAvailable:    500 kB\n");
  write("sys/fs/cgroup/memory.max", "300000\n");
  write("sys/fs/cgroup/memory.current", "250000\n");
  write("sys/fs/cgroup/memory.stat", "anon 1\ninactive_file 30000\n");
  EXPECT_EQ(spare_memory_bytes(root_), 80'000u);
  write("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(spare_memory_bytes(root_), 500u * 1024) << "no limit";
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "4000\n");
  EXPECT_EQ(spare_memory_bytes(root_), 0u) << "more than there may be";
}

TEST(SpareMemoryOfThisMachine, IsKnown) {
  const auto spare = spare_memory_bytes();
  ASSERT_TRUE(spare.has_value());
  EXPECT_GT(*spare, 0u);
}

}  // namespace
}  // namespace trainwarden::capture
