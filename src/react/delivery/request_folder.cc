#include "react/delivery/request_folder.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"
#include "core/base/text.h"
#include "data/format/control_record.h"
#include "data/format/request_address.h"

namespace trainwarden::delivery {
namespace {

constexpr std::uint64_t kMaxRequestBytes = 1 << 20;

}  // namespace

std::vector<RequestFolder::Found> RequestFolder::look() {
  std::vector<Found> found;
  if (storage_ == nullptr) return found;
  auto files = storage_->list(format::kControlFolder);
  if (!files.ok() && files.status().code() != Code::kNotFound) return found;  // the next look may do better
  const std::vector<std::string> names = files.ok() ? *std::move(files) : std::vector<std::string>();
  if (!looked_) old_ = {names.begin(), names.end()};
  looked_ = true;
  for (const std::string& name : names) {
    if (format::is_delivery_request_file(name) && !seen_.contains(name)) read(name, old_.contains(name), found);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.request.unix_ns < b.request.unix_ns; });
  return found;
}

void RequestFolder::read(const std::string& file, bool old, std::vector<Found>& found) {
  const std::string path = std::string(format::kControlFolder) + "/" + file;
  const auto text = storage_->read(path, kMaxRequestBytes);
  if (!text.ok() && text.status().code() == Code::kUnavailable) return;
  seen_.insert(file);
  const Status address = text.ok() ? format::check_address(*text, run_id_) : text.status();
  auto request = address.ok() ? format::decode_delivery_request(*text) : address;
  if (request.ok()) {
    found.push_back({*std::move(request), old});
  } else {
    log(LogLevel::kWarning, "{} asks nothing of this run: {}", printable(path),
        printable(request.status().to_string()));
  }
}

}  // namespace trainwarden::delivery
