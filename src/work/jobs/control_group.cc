#include "work/jobs/control_group.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/base/text_file.h"
#include "measure/machine/control_groups.h"

namespace trainwarden::jobs {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kEndPause{20};
constexpr int kEndRounds = 100;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Files of control groups take one write, and say by its failure what is wrong.
Status write_value(const fs::path& file, const std::string& value) {
  const FileDescriptor open(::open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (open.is_open() && ::write(open.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size())) {
    return Status();
  }
  const Code code = errno == EACCES || errno == EPERM ? Code::kPermissionDenied : Code::kInternal;
  return Status(code, fmt::format("cannot write {} to {}: {}", value, file.string(), std::strerror(errno)));
}

std::optional<std::int64_t> number_in(const fs::path& file) {
  const std::optional<std::string> text = read_text_file(file);
  return text ? parse_int(trim(*text)) : std::nullopt;
}

// The number behind `key` in a text such as "oom 1\noom_kill 1\n".
std::optional<std::int64_t> number_behind(const fs::path& file, std::string_view key) {
  const std::string start = std::string(key) + " ";
  for (const std::string& line : lines_that_count(read_text_file(file).value_or(""))) {
    if (line.starts_with(start)) return parse_int(trim(std::string_view(line).substr(start.size())));
  }
  return std::nullopt;
}

// Groups that the job's own programs have made in theirs go first.
bool remove_folders(const fs::path& folder) {
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored)) {
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) remove_folders(entry->path());
  }
  return ::rmdir(folder.c_str()) == 0 || errno == ENOENT;
}

void kill_listed(const fs::path& folder) {
  for (const std::string& line : lines_that_count(read_text_file(folder / "cgroup.procs").value_or(""))) {
    const std::optional<std::int64_t> id = parse_int(line);
    if (id && *id > 1 && *id != ::getpid()) ::kill(static_cast<pid_t>(*id), SIGKILL);
  }
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored)) {
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) kill_listed(entry->path());
  }
}

bool is_group_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.@").find(c) != std::string_view::npos;
  };
  return !name.empty() && name != "." && name != ".." && std::all_of(name.begin(), name.end(), allowed);
}

}  // namespace

bool is_control_group(std::string_view path) {
  for (;;) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (!is_group_name(path.substr(0, end))) return false;
    if (end == path.size()) return true;
    path.remove_prefix(end + 1);
  }
}

// Version 2 is all of the root, or "unified" in it beside hierarchies of version 1.
std::vector<ControlGroup::Folder> ControlGroup::folders_of(const fs::path& root, const std::string& set_aside) {
  std::vector<Folder> folders;
  const auto add = [&](Kind kind, const fs::path& hierarchy) {
    if (is_there(hierarchy / set_aside)) folders.push_back({kind, hierarchy / set_aside});
  };
  if (is_there(root / "cgroup.controllers")) {
    add(Kind::kUnified, root);
    return folders;
  }
  add(Kind::kUnified, root / "unified");
  add(Kind::kMemory, root / "memory");
  add(Kind::kCpu, root / "cpuacct");
  add(Kind::kFreezer, root / "freezer");
  return folders;
}

Result<ControlGroup> ControlGroup::create(const fs::path& root, const std::string& set_aside, const std::string& name) {
  if (!is_control_group(set_aside) || !is_group_name(name)) {
    return Status(Code::kInvalidArgument, fmt::format("\"{}\" is no path of a control group", printable(set_aside)));
  }
  ControlGroup group(set_aside + "/" + name);
  for (Folder& folder : group.folders_ = folders_of(root, set_aside)) {
    // Fine when it is on already, or not to be had: limit_memory() finds out.
    if (folder.kind == Kind::kUnified) {
      static_cast<void>(write_value(folder.path / "cgroup.subtree_control", "+memory"));
    }
    folder.path /= name;
    if (::mkdir(folder.path.c_str(), 0755) == 0 || errno == EEXIST) continue;
    const Code code = errno == EACCES || errno == EPERM || errno == EROFS ? Code::kPermissionDenied : Code::kInternal;
    const Status failed(code, fmt::format("cannot make {}: {}", folder.path.string(), std::strerror(errno)));
    group.remove();
    return failed;
  }
  if (!group.folders_.empty()) return group;
  return Status(Code::kNotFound, fmt::format("there is no control group \"{}\" in {}; make it, as in mkdir {}",
                                             set_aside, root.string(), (root / set_aside).string()));
}

std::optional<ControlGroup> ControlGroup::find(const fs::path& root, const std::string& set_aside,
                                               const std::string& name) {
  if (!is_control_group(set_aside) || !is_group_name(name)) return std::nullopt;
  ControlGroup group(set_aside + "/" + name);
  group.folders_ = folders_of(root, set_aside);
  for (Folder& folder : group.folders_) folder.path /= name;
  std::erase_if(group.folders_, [](const Folder& folder) { return !is_there(folder.path); });
  return group.folders_.empty() ? std::nullopt : std::optional(std::move(group));
}

const ControlGroup::Folder* ControlGroup::find_folder(Kind kind) const {
  const auto found = std::find_if(folders_.begin(), folders_.end(), [kind](const Folder& f) { return f.kind == kind; });
  return found == folders_.end() ? nullptr : &*found;
}

Status ControlGroup::limit_memory(std::uint64_t bytes) {
  if (const Folder* const memory = find_folder(Kind::kMemory)) {
    TRAINWARDEN_RETURN_IF_ERROR(write_value(memory->path / "memory.limit_in_bytes", std::to_string(bytes)));
    const fs::path with_swap = memory->path / "memory.memsw.limit_in_bytes";
    return is_there(with_swap) ? write_value(with_swap, std::to_string(bytes)) : Status();
  }
  const Folder* const unified = find_folder(Kind::kUnified);
  if (unified == nullptr || !is_there(unified->path / "memory.max")) {
    return Status(Code::kUnimplemented, fmt::format("{} has no controller of memory", describe()));
  }
  TRAINWARDEN_RETURN_IF_ERROR(write_value(unified->path / "memory.max", std::to_string(bytes)));
  const fs::path swap = unified->path / "memory.swap.max";
  return is_there(swap) ? write_value(swap, "0") : Status();
}

Result<std::vector<FileDescriptor>> ControlGroup::entries() const {
  std::vector<FileDescriptor> entries;
  for (const Folder& folder : folders_) {
    const fs::path file = folder.path / "cgroup.procs";
    FileDescriptor entry(::open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!entry.is_open()) {
      const Code code = errno == EACCES || errno == EPERM ? Code::kPermissionDenied : Code::kInternal;
      return Status(code, fmt::format("cannot open {}: {}", file.string(), std::strerror(errno)));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

GroupUse ControlGroup::use() const {
  GroupUse use;
  const auto bytes = [](std::optional<std::int64_t> number) {
    return number ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
  };
  if (const Folder* const unified = find_folder(Kind::kUnified)) {
    use.peak_memory_bytes = bytes(number_in(unified->path / "memory.peak"));
    use.memory_kills = number_behind(unified->path / "memory.events", "oom_kill").value_or(0);
    const std::optional<std::int64_t> cpu_us = number_behind(unified->path / "cpu.stat", "usage_usec");
    if (cpu_us) use.cpu_ns = *cpu_us * 1000;
  }
  if (const Folder* const memory = find_folder(Kind::kMemory)) {
    use.peak_memory_bytes = bytes(number_in(memory->path / "memory.max_usage_in_bytes"));
    use.memory_kills = number_behind(memory->path / "memory.oom_control", "oom_kill").value_or(0);
  }
  if (const Folder* const cpu = find_folder(Kind::kCpu)) use.cpu_ns = number_in(cpu->path / "cpuacct.usage");
  return use;
}

void ControlGroup::freeze(bool frozen) const {
  if (const Folder* const unified = find_folder(Kind::kUnified)) {
    static_cast<void>(write_value(unified->path / "cgroup.freeze", frozen ? "1" : "0"));
  }
  if (const Folder* const freezer = find_folder(Kind::kFreezer)) {
    static_cast<void>(write_value(freezer->path / "freezer.state", frozen ? "FROZEN" : "THAWED"));
  }
}

// One write where the kernel can (5.14), else they are frozen, so that none starts another meanwhile.
void ControlGroup::kill_once() const {
  const Folder* const unified = find_folder(Kind::kUnified);
  if (unified != nullptr && write_value(unified->path / "cgroup.kill", "1").ok()) return;
  freeze(true);
  for (const Folder& folder : folders_) kill_listed(folder.path);
  freeze(false);
}

bool ControlGroup::remove() const {
  bool removed = true;
  for (const Folder& folder : folders_) removed = remove_folders(folder.path) && removed;
  return removed;
}

Status ControlGroup::end() {
  for (int round = 0; round < kEndRounds; ++round) {
    kill_once();
    if (remove()) return Status();
    std::this_thread::sleep_for(kEndPause);
  }
  return Status(Code::kDeadlineExceeded, fmt::format("{} is not empty", describe()));
}

std::string ControlGroup::describe() const {
  const bool unified_alone = folders_.size() == 1 && folders_.front().kind == Kind::kUnified;
  return fmt::format("control group {} (version {})", name_, unified_alone ? 2 : 1);
}

std::optional<std::int64_t> memory_kills_around(const fs::path& root, std::string_view membership) {
  const bool unified = is_there(root / "cgroup.controllers");
  const auto group = machine::group_path(membership, unified ? "" : "memory");
  if (!group) return std::nullopt;
  const std::string below = group->substr(1);
  return unified ? number_behind(root / below / "memory.events", "oom_kill")
                 : number_behind(root / "memory" / below / "memory.oom_control", "oom_kill");
}

}  // namespace trainwarden::jobs
