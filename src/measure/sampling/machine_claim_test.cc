#include "measure/sampling/machine_claim.h"

#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden::sampling {
namespace {

void boot(const std::filesystem::path& root, const std::string& id) {
  std::filesystem::create_directories(root / "proc/sys/kernel/random");
  std::ofstream(root / "proc/sys/kernel/random/boot_id") << id << "\n";
}

constexpr const char* kBoot = "01234567-89ab-cdef-0123-456789abcdef";

TEST(MachineClaim, TellsMachinesContainersAndNodesApart) {
  const TestFolder folder;
  boot(folder.path(), kBoot);
  const std::string mark = machine_mark(folder.path(), "node7", "");
  EXPECT_EQ(mark, machine_mark(folder.path(), "node7", ""));
  EXPECT_NE(mark, machine_mark(folder.path(), "node8", ""));
  EXPECT_NE(mark, machine_mark(folder.path(), "node7", "n1"));
  boot(folder.path(), "11234567-89ab-cdef-0123-456789abcdef");
  EXPECT_NE(mark, machine_mark(folder.path(), "node7", ""));
  for (const char* bad : {"", "x", "../../../../../../../../../etc/passwd0"}) {
    boot(folder.path(), bad);
    EXPECT_EQ(machine_mark(folder.path(), "node7", ""), "") << bad;
  }
}

TEST(MachineClaim, IsOneSamplersUntilItIsGone) {
  const TestFolder folder;
  boot(folder.path(), kBoot);
  const storage::Location run(folder.path());
  const std::string mark = machine_mark(folder.path(), "node7", "");
  auto first = claim_machine(run, mark, system_clock());
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  const auto second = claim_machine(run, mark, system_clock());
  EXPECT_EQ(second.status().code(), Code::kAlreadyExists);
  EXPECT_NE(second.status().message().find("sampled into the run already"), std::string::npos);
  EXPECT_TRUE(claim_machine(run, machine_mark(folder.path(), "node8", ""), system_clock()).ok());
  ASSERT_TRUE((*first)->end().ok());
  first->reset();
  EXPECT_TRUE(claim_machine(run, mark, system_clock()).ok());
}

}  // namespace
}  // namespace trainwarden::sampling
