// ControlGroup: the processes of one attempt of a job, held together by the kernel: what they may use, what they have
// used, and one way to end them all.
//
// Version 2 (Linux's Documentation/admin-guide/cgroup-v2.rst) and version 1, also both at once. It is made beneath a
// group that an administrator has set aside for jobs; nothing outside that one is touched, and no process is moved but
// those that enter by themselves (process::Program::control_groups).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_descriptor.h"
#include "trainwarden/status.h"

namespace trainwarden::jobs {

inline constexpr const char* kControlGroupRoot = "/sys/fs/cgroup";

// What the processes of a group have used so far, those that have ended too. Nothing: the kernel does not say.
struct GroupUse {
  std::optional<std::uint64_t> peak_memory_bytes;
  std::optional<std::int64_t> cpu_ns;
  std::int64_t memory_kills = 0;  // processes that were killed because the group's memory was used up
};

// One thread at a time. The destructor leaves the group as it is: end() removes it.
class ControlGroup {
 public:
  // `set_aside` is a path beneath the root of a hierarchy ("trainwarden"); `name` is the new group's. One that is there
  // already is taken. kNotFound when nothing is set aside, kPermissionDenied when it may not be used.
  static Result<ControlGroup> create(const std::filesystem::path& root, const std::string& set_aside,
                                     const std::string& name);
  // One that another process has made; nothing when it is gone.
  static std::optional<ControlGroup> find(const std::filesystem::path& root, const std::string& set_aside,
                                          const std::string& name);

  // Swap included, where the kernel can. kUnimplemented when memory is not among what was set aside.
  Status limit_memory(std::uint64_t bytes);
  // For process::Program::control_groups. Errors: those of open(2).
  Result<std::vector<FileDescriptor>> entries() const;
  GroupUse use() const;
  // Kills all that is in it, those that are just being started too, and removes it; for two seconds at most.
  // kDeadlineExceeded when something is still there.
  Status end();
  std::string describe() const;  // "control group trainwarden/bert-7-1 (version 2)"

 private:
  enum class Kind : std::uint8_t { kUnified, kMemory, kCpu, kFreezer };
  struct Folder {
    Kind kind;
    std::filesystem::path path;
  };
  explicit ControlGroup(std::string name) : name_(std::move(name)) {}
  static std::vector<Folder> folders_of(const std::filesystem::path& root, const std::string& set_aside);
  const Folder* find_folder(Kind kind) const;
  void kill_once() const;
  void freeze(bool frozen) const;
  bool remove() const;

  std::string name_;  // with what was set aside
  std::vector<Folder> folders_;
};

// A path that can be set aside: names of letters, digits, "_", "-", "." and "@", with "/" between them, none of them
// "." or "..".
bool is_control_group(std::string_view path);

// How many processes were killed so far because memory was used up in the group that this process is in: its own, or
// that of a container or a batch system. Only reads. `membership` is the text of /proc/self/cgroup. Nothing: not known.
std::optional<std::int64_t> memory_kills_around(const std::filesystem::path& root, std::string_view membership);

}  // namespace trainwarden::jobs
