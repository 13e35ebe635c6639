#include "measure/machine/control_groups.h"

#include <algorithm>
#include <utility>

#include "measure/machine/words.h"

namespace trainwarden::machine {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 32;

// Blanks in paths are written as "\040" (proc_pid_mountinfo(5)).
std::string without_escapes(std::string_view path) {
  std::string plain;
  for (std::size_t at = 0; at < path.size(); ++at) {
    const auto digit = [&](std::size_t index) { return path[at + index] - '0'; };
    const bool escaped = path[at] == '\\' && at + 3 < path.size() && digit(1) >= 0 && digit(1) <= 3 && digit(2) >= 0 &&
                         digit(2) <= 7 && digit(3) >= 0 && digit(3) <= 7;
    plain += escaped ? static_cast<char>(digit(1) * 64 + digit(2) * 8 + digit(3)) : path[at];
    if (escaped) at += 3;
  }
  return plain;
}

bool lists(std::string_view controllers, std::string_view controller) {
  return controllers.find(',' + std::string(controller) + ',') != std::string_view::npos;
}

// What is left of a group's path below the group that is mounted; nothing when it is not below it.
std::optional<std::string> below(const std::string& path, const std::string& mounted) {
  if (mounted == "/") return path;
  if (path == mounted) return "/";
  return path.starts_with(mounted + "/") ? std::optional(path.substr(mounted.size())) : std::nullopt;
}

bool leads_up(const std::string& path) {
  return ("/" + path + "/").find("/../") != std::string::npos;
}

// A group outside of our namespace ("/../x"), or above what is mounted, is not to be seen: then the group that is
// mounted is the nearest that is around it.
GroupFolders folders_of(const fs::path& root, const GroupMount& mount, const std::string& path) {
  const std::string place = mount.place.substr(std::min(mount.place.find_first_not_of('/'), mount.place.size()));
  const fs::path top = root / place;
  std::string rest = below(path, mount.root).value_or("/");
  if (leads_up(rest)) rest = "/";
  GroupFolders folders;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    while (!rest.empty() && rest.back() == '/') rest.pop_back();
    folders.push_back(rest.empty() ? top : top / rest.substr(rest.find_first_not_of('/')));
    if (rest.empty()) break;
    rest.resize(rest.rfind('/') == std::string::npos ? 0 : rest.rfind('/'));
  }
  std::erase_if(folders, [](const fs::path& folder) { return !KernelFile(folder).is_there(); });
  return folders;
}

}  // namespace

// "4:cpu,cpuacct:/a" of version 1, "0::/a" of version 2.
std::optional<std::string> group_path(std::string_view membership, std::string_view controller) {
  while (auto line = next_line(membership)) {
    const std::size_t first = line->find(':');
    const std::size_t second = first == std::string_view::npos ? first : line->find(':', first + 1);
    if (second == std::string_view::npos || line->substr(second + 1, 1) != "/") continue;
    const std::string_view controllers = line->substr(first + 1, second - first - 1);
    const bool wanted =
        controller.empty() ? controllers.empty() : lists("," + std::string(controllers) + ",", controller);
    if (wanted) return std::string(line->substr(second + 1));
  }
  return std::nullopt;
}

// "30 25 0:26 ROOT PLACE rw,nosuid shared:9 - cgroup cgroup rw,memory": as many words before the dash as there are
// optional ones, three behind it.
std::vector<GroupMount> parse_group_mounts(std::string_view mountinfo) {
  std::vector<GroupMount> mounts;
  while (auto line = next_line(mountinfo)) {
    const std::string_view root = nth_word(*line, 3);
    const std::string_view place = nth_word(*line, 4);
    const std::size_t dash = line->find(" - ");
    if (dash == std::string_view::npos || root.empty() || place.empty() || mounts.size() >= kMaxGroupMounts) continue;
    std::string_view behind = line->substr(dash + 3);
    const std::string_view type = next_word(behind);
    next_word(behind);
    const std::string_view options = next_word(behind);
    if (type != "cgroup" && type != "cgroup2") continue;
    mounts.push_back(
        {type == "cgroup" ? "," + std::string(options) + "," : "", without_escapes(root), without_escapes(place)});
  }
  return mounts;
}

ControlGroups find_control_groups(const fs::path& root, const std::string& id, FileBuffer& buffer) {
  const fs::path process = root / "proc" / id;
  const std::string membership(KernelFile(process / "cgroup").read_once(buffer).value_or(""));
  const auto mounts = parse_group_mounts(KernelFile(process / "mountinfo").read_once(buffer).value_or(""));
  const auto find = [&](std::string_view controller) {
    const auto path = group_path(membership, controller);
    const auto mount = std::find_if(mounts.begin(), mounts.end(), [&](const GroupMount& m) {
      return controller.empty() ? m.controllers.empty() : lists(m.controllers, controller);
    });
    return path && mount != mounts.end() ? folders_of(root, *mount, *path) : GroupFolders();
  };
  const GroupFolders unified = find("");
  const auto hierarchy = [&](std::string_view controller) {
    if (GroupFolders folders = find(controller); !folders.empty()) {
      return ControlGroups::Hierarchy{1, std::move(folders)};
    }
    return ControlGroups::Hierarchy{unified.empty() ? 0 : 2, unified};
  };
  return {hierarchy("cpu"), hierarchy("cpuacct"), hierarchy("memory"), hierarchy("blkio"), unified};
}

}  // namespace trainwarden::machine
