// On trees as kernels show them, copied file by file; and, as root where the machine lets us, on this machine's own.
#include "work/jobs/control_group.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/await_testing.h"
#include "core/base/folder_testing.h"
#include "core/base/text_file.h"
#include "core/process/child.h"

namespace trainwarden::jobs {
namespace {

namespace fs = std::filesystem;

class ControlGroupTest : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root() / file).parent_path());
    std::ofstream(root() / file) << text;
  }
  std::string text(const std::string& file) const { return read_text_file(root() / file).value_or("(nothing)"); }
  fs::path root() const { return folder_.path(); }

  // What Linux 6.1 has in a group with the controller of memory.
  void make_version_2() const {
    write("cgroup.controllers", "cpuset cpu io memory pids\n");
    write("trainwarden/cgroup.subtree_control", "");
    write("trainwarden/job-1/cgroup.procs", "");
    write("trainwarden/job-1/cgroup.kill", "");
    write("trainwarden/job-1/memory.max", "max\n");
    write("trainwarden/job-1/memory.swap.max", "max\n");
    write("trainwarden/job-1/memory.peak", "73400320\n");
    write("trainwarden/job-1/memory.events", "low 0\nhigh 0\nmax 12\noom 2\noom_kill 1\noom_group_kill 0\n");
    write("trainwarden/job-1/cpu.stat", "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\n");
  }

  // Of version 1, each controller in a hierarchy of its own.
  void make_version_1() const {
    write("memory/trainwarden/job-1/cgroup.procs", "");
    write("memory/trainwarden/job-1/memory.limit_in_bytes", "9223372036854771712\n");
    write("memory/trainwarden/job-1/memory.max_usage_in_bytes", "8192\n");
    write("memory/trainwarden/job-1/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    write("cpuacct/trainwarden/job-1/cgroup.procs", "");
    write("cpuacct/trainwarden/job-1/cpuacct.usage", "123456789\n");
    write("freezer/trainwarden/job-1/cgroup.procs", "");
    write("freezer/trainwarden/job-1/freezer.state", "THAWED\n");
  }

  TestFolder folder_;
};

TEST_F(ControlGroupTest, Version2LimitsMemoryAndSaysWhatWasUsed) {
  make_version_2();
  Result<ControlGroup> group = ControlGroup::create(root(), "trainwarden", "job-1");
  ASSERT_TRUE(group.ok()) << group.status().to_string();
  EXPECT_EQ(text("trainwarden/cgroup.subtree_control"), "+memory");
  ASSERT_TRUE(group->limit_memory(1 << 20).ok());
  EXPECT_EQ(text("trainwarden/job-1/memory.max").substr(0, 7), "1048576");
  EXPECT_EQ(text("trainwarden/job-1/memory.swap.max").substr(0, 1), "0");
  const GroupUse use = group->use();
  EXPECT_EQ(use.peak_memory_bytes, 73400320U);
  EXPECT_EQ(use.cpu_ns, 1'500'000);
  EXPECT_EQ(use.memory_kills, 1);
  EXPECT_EQ(group->describe(), "control group trainwarden/job-1 (version 2)");
  EXPECT_EQ(group->entries()->size(), 1U);
}

TEST_F(ControlGroupTest, Version1DoesTheSameInSeveralHierarchies) {
  make_version_1();
  Result<ControlGroup> group = ControlGroup::create(root(), "trainwarden", "job-1");
  ASSERT_TRUE(group.ok()) << group.status().to_string();
  ASSERT_TRUE(group->limit_memory(1 << 20).ok());
  EXPECT_EQ(text("memory/trainwarden/job-1/memory.limit_in_bytes").substr(0, 7), "1048576");
  const GroupUse use = group->use();
  EXPECT_EQ(use.peak_memory_bytes, 8192U);
  EXPECT_EQ(use.cpu_ns, 123456789);
  EXPECT_EQ(use.memory_kills, 3);
  EXPECT_EQ(group->entries()->size(), 3U);
  EXPECT_EQ(group->describe(), "control group trainwarden/job-1 (version 1)");
}

TEST_F(ControlGroupTest, WhatIsNotSetAsideIsAnErrorThatSaysWhatToDo) {
  write("cgroup.controllers", "memory\n");
  const auto missing = ControlGroup::create(root(), "trainwarden", "job-1");
  EXPECT_EQ(missing.status().code(), Code::kNotFound);
  EXPECT_NE(missing.status().message().find("mkdir " + root().string() + "/trainwarden"), std::string::npos);
  fs::create_directories(root() / "trainwarden");
  Result<ControlGroup> group = ControlGroup::create(root(), "trainwarden", "job-1");
  ASSERT_TRUE(group.ok());
  EXPECT_EQ(group->limit_memory(1).code(), Code::kUnimplemented) << "the kernel gave it no memory.max";
  EXPECT_TRUE(group->end().ok());
  EXPECT_FALSE(fs::exists(root() / "trainwarden/job-1"));
  EXPECT_TRUE(fs::exists(root() / "trainwarden")) << "what was set aside stays";
}

TEST_F(ControlGroupTest, NoPathLeadsOutOfWhatWasSetAside) {
  write("cgroup.controllers", "memory\n");
  fs::create_directories(root() / "a");
  for (const char* path : {"", "/", "..", "a/..", "../a", "/a", "a/", "a//b", ".", "a b", "a\nb"}) {
    EXPECT_FALSE(is_control_group(path)) << path;
    EXPECT_EQ(ControlGroup::create(root(), path, "x").status().code(), Code::kInvalidArgument) << path;
    EXPECT_FALSE(ControlGroup::find(root(), path, "a")) << path;
    EXPECT_FALSE(ControlGroup::find(root(), "a", path)) << path;
  }
  EXPECT_TRUE(is_control_group("user.slice/user@1000.service/trainwarden"));
}

TEST_F(ControlGroupTest, KillsAroundAreReadWhereThisProcessIs) {
  write("memory/box/memory.oom_control", "oom_kill_disable 0\noom_kill 7\n");
  EXPECT_EQ(memory_kills_around(root(), "4:memory:/box\n0::/\n"), 7);
  EXPECT_EQ(memory_kills_around(root(), "0::/\n"), std::nullopt);
  write("cgroup.controllers", "memory\n");
  write("pod/memory.events", "oom 1\noom_kill 2\n");
  EXPECT_EQ(memory_kills_around(root(), "0::/pod\n"), 2);
  EXPECT_EQ(memory_kills_around(root(), "what is this"), std::nullopt);
}

// In the hierarchy of version 2 that this machine has, with or without version 1 beside it.
class RealControlGroupTest : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path root = kControlGroupRoot;
    const fs::path unified = fs::exists(root / "cgroup.controllers") ? root : root / "unified";
    set_aside_ = "trainwarden-test-" + std::to_string(::getpid());
    place_ = unified / set_aside_;
    const bool ours = ::geteuid() == 0 && fs::exists(unified / "cgroup.procs") && ::mkdir(place_.c_str(), 0755) == 0;
    if (!ours) GTEST_SKIP() << "no control group can be made here";
  }
  void TearDown() override { ::rmdir(place_.c_str()); }

  std::string set_aside_;
  fs::path place_;
};

TEST_F(RealControlGroupTest, AProgramThatHidesFromAllElseIsEnded) {
  Result<ControlGroup> group = ControlGroup::create(kControlGroupRoot, set_aside_, "job-1");
  ASSERT_TRUE(group.ok()) << group.status().to_string();
  Result<std::vector<FileDescriptor>> entries = group->entries();
  ASSERT_TRUE(entries.ok()) << entries.status().to_string();
  process::Program program;
  // Its descendants leave the group of processes and have no environment that would tell whose they are.
  program.command = {"sh", "-c", "setsid env -i sh -c 'sleep 300 & sleep 300' & setsid env -i sleep 300 & wait"};
  for (const FileDescriptor& entry : *entries) program.control_groups.push_back(entry.get());
  Result<process::Child> child = process::Child::start(program);
  ASSERT_TRUE(child.ok()) << child.status().to_string();
  const auto members = [&] { return lines_that_count(read_text_file(place_ / "job-1/cgroup.procs").value_or("")); };
  ASSERT_TRUE(await([&] { return members().size() == 5; })) << members().size();
  EXPECT_TRUE(ControlGroup::find(kControlGroupRoot, set_aside_, "job-1")->end().ok());
  EXPECT_TRUE(child->wait_for(std::chrono::seconds(60)));
  EXPECT_EQ(child->reap().number, SIGKILL);
  EXPECT_FALSE(fs::exists(place_ / "job-1"));
  EXPECT_FALSE(ControlGroup::find(kControlGroupRoot, set_aside_, "job-1"));
}

TEST_F(RealControlGroupTest, ItsProcessorTimeCountsWhatNobodyHasWaitedFor) {
  Result<ControlGroup> group = ControlGroup::create(kControlGroupRoot, set_aside_, "job-1");
  ASSERT_TRUE(group.ok());
  Result<std::vector<FileDescriptor>> entries = group->entries();
  process::Program program;
  program.command = {"sh", "-c", "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'"};
  for (const FileDescriptor& entry : *entries) program.control_groups.push_back(entry.get());
  Result<process::Child> child = process::Child::start(program);
  ASSERT_TRUE(child.ok() && child->wait_for(std::chrono::seconds(60)));
  EXPECT_GT(group->use().cpu_ns.value_or(0), 1'000'000);
  EXPECT_TRUE(group->end().ok());
}

}  // namespace
}  // namespace trainwarden::jobs
