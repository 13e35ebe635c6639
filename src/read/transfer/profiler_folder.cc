#include "read/transfer/profiler_folder.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "core/base/text.h"

namespace trainwarden::transfer {
namespace {

using storage::FileInfo;
using storage::Storage;

constexpr std::size_t kMaxFiles = 200'000;
constexpr int kMaxFolders = 12;  // within each other
constexpr std::string_view kEndMarker = "training_job_end.ts";
constexpr std::string_view kTensorFlowTrace = ".trace.json.gz";

std::string joined_path(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : folder + "/" + std::string(name);
}

// The number behind the last "-": 3 of "algo-3".
std::optional<std::int64_t> number_at_end(const std::string& node) {
  const std::size_t dash = node.rfind('-');
  return dash == std::string::npos ? std::nullopt : parse_int(std::string_view(node).substr(dash + 1));
}

class FolderWalk {
 public:
  explicit FolderWalk(const Storage& storage) : storage_(storage) {}

  // `step` and `times`: those of the folder of TensorFlow's profiler that it lies in.
  struct Above {
    std::int64_t step = -1;
    std::int64_t begin_unix_us = 0;
    std::string node;
  };

  Status walk(const std::string& folder, int depth, Above above) {
    const auto entries = storage_.entries(folder);
    if (entries.status().code() == Code::kNotFound) return {};
    if (!entries.ok()) return entries.status();
    for (const storage::Entry& entry : *entries) note_times(entry.name, above);
    for (const storage::Entry& entry : *entries) {
      if (++seen_ > kMaxFiles) {
        return Status(Code::kResourceExhausted,
                      "the profiler's folder has more than 200,000 files; import a part of it");
      }
      const std::string path = joined_path(folder, entry.name);
      if (entry.info.kind == FileInfo::Kind::kFolder && depth < kMaxFolders) {
        Above below = above;
        if (folder.find("detailed_profiling") != std::string::npos && entry.name.size() == 9) {
          below.step = parse_int(entry.name).value_or(-1);
        }
        TRAINWARDEN_RETURN_IF_ERROR(walk(path, depth + 1, below));
      } else if (entry.info.kind == FileInfo::Kind::kFile) {
        take(path, entry.name, above);
      } else {
        ++found_.unknown;
      }
    }
    return {};
  }

  ProfilerFolder finish() {
    for (auto* files : {&found_.system, &found_.timelines, &found_.traces}) {
      std::sort(files->begin(), files->end(), [](const ProfilerFile& a, const ProfilerFile& b) {
        if (a.node != b.node) return node_before(a.node, b.node);
        return std::tie(a.order, a.path) < std::tie(b.order, b.path);
      });
    }
    return std::move(found_);
  }

 private:
  static void note_times(const std::string& name, Above& above) {
    if (const auto times = foreign::parse_smdebug_trace_times(name)) {
      above.begin_unix_us = times->begin_unix_us;
      above.node = times->node;
    }
  }

  void take(const std::string& path, const std::string& name, const Above& above) {
    if (name == kEndMarker) {
      found_.ended = true;
    } else if (const auto system = foreign::parse_smdebug_system_name(name)) {
      found_.system.push_back({path, std::string(system->node), system->unix_seconds});
    } else if (const auto timeline = foreign::parse_smdebug_timeline_name(name)) {
      const std::int64_t end = timeline->end_unix_us.value_or(std::numeric_limits<std::int64_t>::max());
      found_.timelines.push_back({path, std::string(timeline->node), end, -1, 0, timeline->timeline});
    } else if (name.ends_with(kTensorFlowTrace)) {
      const std::string node = above.node.empty() ? name.substr(0, name.find('.')) : above.node;
      found_.traces.push_back({path, node, above.begin_unix_us, above.step, above.begin_unix_us});
    } else if (name.starts_with("python_stats")) {
      ++found_.python_profiles;
    } else if (!name.ends_with(".metadata")) {
      ++found_.unknown;
    }
  }

  const Storage& storage_;
  std::size_t seen_ = 0;
  ProfilerFolder found_;
};

bool is_folder(const Storage& storage, const std::string& path) {
  const auto info = storage.info(path);
  return info.ok() && info->kind == FileInfo::Kind::kFolder;
}

}  // namespace

bool node_before(const std::string& a, const std::string& b) {
  const auto left = number_at_end(a), right = number_at_end(b);
  return left && right && *left != *right ? *left < *right : a < b;
}

bool holds_profiler_output(const Storage& storage, const std::string& root) {
  for (const char* part : {"system/incremental", "framework/pevents", "framework/tensorflow", "framework/pytorch"}) {
    if (is_folder(storage, joined_path(root, part))) return true;
  }
  return false;
}

Result<ProfilerFolder> list_profiler_folder(const Storage& storage, const std::string& root) {
  FolderWalk walk(storage);
  for (const std::string_view part : {foreign::kSmdebugSystemFolder, foreign::kSmdebugFrameworkFolder}) {
    TRAINWARDEN_RETURN_IF_ERROR(walk.walk(joined_path(root, part), 0, FolderWalk::Above()));
  }
  return walk.finish();
}

}  // namespace trainwarden::transfer
