// Where a process's control groups lie: from what the kernel says of its groups and of what is mounted.
//
// Version 2 has one hierarchy; version 1 one for each resource, and a machine may have both at once.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/machine/kernel_file.h"

namespace trainwarden::machine {

// Which hierarchy a process's group is in, and its path there. `controller` is one of version 1 ("memory"), or empty
// for version 2. `membership` is the text of proc/PID/cgroup. Nothing: it is in none.
std::optional<std::string> group_path(std::string_view membership, std::string_view controller);

struct GroupMount {
  std::string controllers;  // of version 1, with commas around each: ",cpu,cpuacct,"; empty: version 2
  std::string root;         // which group of the hierarchy is seen there
  std::string place;        // where
};
// Of the text of proc/PID/mountinfo; kMaxGroupMounts at most.
std::vector<GroupMount> parse_group_mounts(std::string_view mountinfo);
inline constexpr std::size_t kMaxGroupMounts = 64;

// A group's folder, and those of the groups around it that can be seen, from the inside out. Empty: there is none.
using GroupFolders = std::vector<std::filesystem::path>;

struct ControlGroups {
  struct Hierarchy {
    int version = 0;  // 0: none
    GroupFolders folders;
  };
  Hierarchy cpu;
  Hierarchy cpu_usage;  // of version 1 a hierarchy of its own, at times
  Hierarchy memory;
  Hierarchy io;
  GroupFolders pressure;  // version 2
};

// Those of the process `id`, a number or "self". `root`: below it proc and what is mounted.
ControlGroups find_control_groups(const std::filesystem::path& root, const std::string& id, FileBuffer& buffer);

}  // namespace trainwarden::machine
