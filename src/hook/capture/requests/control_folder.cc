#include "hook/capture/requests/control_folder.h"

#include <cstdint>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "data/format/control_record.h"
#include "data/format/parse_json.h"
#include "data/format/request_address.h"

namespace trainwarden::capture {
namespace {

constexpr std::uint64_t kMaxRequestBytes = 1 << 20;
constexpr std::int64_t kMostWaitNs = 60'000'000'000;

}  // namespace

void ControlFolder::for_each_new(const std::function<Status(std::string_view, std::string_view)>& take) {
  if (storage_ == nullptr) return;
  const auto files = storage_->list(format::kControlFolder);
  if (!files.ok()) return;  // there is no such folder until somebody asks for something
  for (const std::string& file : *files) {
    if (!is_request_file_(file) || seen_files_.contains(file)) continue;
    const std::string path = fmt::format("{}/{}", format::kControlFolder, file);
    const auto text = storage_->read(path, kMaxRequestBytes);
    if (is_on_its_way(file, text)) continue;
    seen_files_.insert(file);
    const Status status = text.ok() ? take_if_ours(*text, path, take) : text.status();
    if (!status.ok()) {
      log(LogLevel::kWarning, "{} asks nothing of this run: {}", printable(path), printable(status.to_string()));
    }
  }
}

bool ControlFolder::is_on_its_way(const std::string& file, const Result<std::string>& text) {
  if (text.status().code() == Code::kUnavailable) return true;
  const bool is_whole = text.ok() ? format::parse_json(*text, "request").ok() : text.status().code() != Code::kNotFound;
  if (is_whole) return false;
  const std::int64_t now = system_clock().steady_ns();
  return now - waited_since_ns_.try_emplace(file, now).first->second < kMostWaitNs;
}

Status ControlFolder::take_if_ours(std::string_view text, std::string_view path,
                                   const std::function<Status(std::string_view, std::string_view)>& take) const {
  TRAINWARDEN_RETURN_IF_ERROR(format::check_address(text, run_id_));
  return take(text, path);
}

}  // namespace trainwarden::capture
