#include "ui/views/black_boxes.h"

#include <cstdint>

#include <fmt/format.h>

#include "data/format/control_record.h"
#include "store/journal/run_folder.h"

namespace trainwarden::views {
namespace {

using format::OrderedJson;

constexpr const char* kReplayFile = "replay.json";
constexpr std::uint64_t kMaxReplayBytes = 64u << 20;

OrderedJson read_replay(const storage::Storage& storage, const std::string& path) {
  const auto text = storage.read(path, kMaxReplayBytes);
  if (!text.ok()) return {{"error", text.status().to_string()}};
  const auto json = format::parse_json_object(*text, path);
  if (!json.ok()) return {{"error", json.status().to_string()}};
  return *json;
}

}  // namespace

std::vector<std::string> list_black_boxes(const storage::Location& run) {
  std::vector<std::string> paths;
  const auto names = run.storage().list(format::kBlackBoxFolder);
  if (!names.ok()) return paths;
  for (const std::string& name : *names) {
    std::string path = fmt::format("{}/{}", format::kBlackBoxFolder, name);
    if (run.storage().exists(fmt::format("{}/{}", path, journal::kRunFile))) paths.push_back(std::move(path));
  }
  return paths;
}

std::vector<BlackBoxDump> read_black_boxes(const storage::Location& run) {
  std::vector<BlackBoxDump> boxes;
  for (std::string& path : list_black_boxes(run)) {
    OrderedJson replay = read_replay(run.storage(), fmt::format("{}/{}", path, kReplayFile));
    boxes.push_back({std::move(path), std::move(replay)});
  }
  return boxes;
}

std::string black_box_run_name(const std::string& run_name, const std::string& path) {
  return fmt::format("{}/{}", run_name, path);
}

}  // namespace trainwarden::views
