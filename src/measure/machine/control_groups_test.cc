#include "measure/machine/control_groups.h"

#include "measure/machine/group_probe.h"
#include "measure/machine/machine_testing.h"

namespace trainwarden::machine {
namespace {

TEST(ControlGroupsTest, FindsThePathOfAController) {
  const std::string_view members = "4:memory:/a:b\n3:cpu,cpuacct:/c\n1:name=systemd:/d\n0::/e\n";
  EXPECT_EQ(group_path(members, "memory"), "/a:b");
  EXPECT_EQ(group_path(members, "cpuacct"), "/c");
  EXPECT_EQ(group_path(members, ""), "/e");
  EXPECT_EQ(group_path(members, "acct"), std::nullopt);
  EXPECT_EQ(group_path("0::/cut", ""), std::nullopt);
  EXPECT_EQ(group_path("", ""), std::nullopt);
}

TEST(ControlGroupsTest, ReadsMountsWithAnyNumberOfWords) {
  const auto mounts = parse_group_mounts(
      "30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
      "31 25 0:27 /docker/1 /sys/fs/cgroup/a\\040b rw shared:1 master:2 - cgroup cgroup rw,cpu,cpuacct\n"
      "32 25 0:28 / /proc rw - proc proc rw\n");
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_EQ(mounts[0].controllers, "");
  EXPECT_EQ(mounts[0].place, "/sys/fs/cgroup");
  EXPECT_EQ(mounts[1].controllers, ",rw,cpu,cpuacct,");
  EXPECT_EQ(mounts[1].root, "/docker/1");
  EXPECT_EQ(mounts[1].place, "/sys/fs/cgroup/a b");
}

// A container of version 1 that has no namespace of groups: its own group is mounted as if it were the root.
TEST(ControlGroupsTest, FindsGroupsBelowWhatIsMounted) {
  const TestMachine machine;
  machine.write("proc/self/cgroup", "4:memory:/docker/1/inner\n");
  machine.write("proc/self/mountinfo", "1 2 0:1 /docker/1 /groups/memory rw - cgroup cgroup rw,memory\n");
  machine.write("groups/memory/inner/memory.limit_in_bytes", "5\n");
  FileBuffer buffer;
  const ControlGroups groups = find_control_groups(machine.root(), "self", buffer);
  EXPECT_EQ(groups.memory.version, 1);
  ASSERT_EQ(groups.memory.folders.size(), 2u);
  EXPECT_EQ(groups.memory.folders[0], machine.root() / "groups/memory/inner");
  EXPECT_EQ(groups.memory.folders[1], machine.root() / "groups/memory");
  EXPECT_EQ(groups.cpu.version, 0);
  EXPECT_TRUE(groups.pressure.empty());
}

// What lies outside of what is mounted, or leads out of it, is not looked for.
TEST(ControlGroupsTest, StaysBelowWhatIsMounted) {
  const TestMachine machine;
  machine.write("groups/cpu.max", "5 1\n");
  machine.write("secret/cpu.max", "5 1\n");
  FileBuffer buffer;
  for (const char* path : {"/../secret", "/a/../../secret", "/elsewhere", "/.."}) {
    machine.write("proc/self/cgroup", std::string("0::") + path + "\n");
    machine.write("proc/self/mountinfo", "1 2 0:1 / /groups rw - cgroup2 cgroup2 rw\n");
    const ControlGroups groups = find_control_groups(machine.root(), "self", buffer);
    EXPECT_EQ(groups.cpu.folders, GroupFolders{machine.root() / "groups"}) << path;
  }
}

TEST(GroupProbeTest, ReadsListsAndLimits) {
  EXPECT_EQ(count_of_list("0"), 1);
  EXPECT_EQ(count_of_list("0-3,8,10-11"), 7);
  for (const char* none : {"", "a", "3-1", "0-", "-", "0-99999999", ",", "0,,1"}) {
    EXPECT_EQ(count_of_list(none), std::nullopt) << none;
  }
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1.5);
  for (const char* none : {"max 100000\n", "1 0\n", "1\n", "", "1 1"}) EXPECT_EQ(parse_cpu_max(none), std::nullopt);
}

TEST(GroupProbeTest, CountsEachDiskOnce) {
  const StandsForOthers mapped = [](std::string_view device) { return device == "253:0"; };
  const GroupIo second =
      parse_io_stat("8:0 rbytes=1 wbytes=2 rios=9\n253:0 rbytes=4 wbytes=4\n8:16 rbytes=8\n", mapped);
  EXPECT_EQ(second.read_bytes, 9);
  EXPECT_EQ(second.written_bytes, 2);
  const GroupIo first = parse_service_bytes("8:0 Read 1\n8:0 Write 2\n8:0 Total 3\n253:0 Read 7\nTotal 10\n", mapped);
  EXPECT_EQ(first.read_bytes, 1);
  EXPECT_EQ(first.written_bytes, 2);
}

}  // namespace
}  // namespace trainwarden::machine
