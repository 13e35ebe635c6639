#include "ui/server/notice_board.h"

#include <algorithm>

#include <fmt/format.h>

#include "data/format/json.h"

namespace trainwarden::server {
namespace {

// Beyond that, those that are oldest are forgotten: runs of a folder in which somebody tries things for weeks.
constexpr std::size_t kMostKept = 4096;

}  // namespace

void NoticeBoard::publish(std::string run, std::string_view kind, std::int64_t last_step) {
  const std::lock_guard lock(mutex_);
  Notice notice{++last_, run, std::string(kind), last_step};
  newest_[{std::move(run), std::string(kind)}] = std::move(notice);
  if (newest_.size() > kMostKept) {
    newest_.erase(std::min_element(newest_.begin(), newest_.end(),
                                   [](const auto& a, const auto& b) { return a.second.version < b.second.version; }));
  }
  if (listener_) listener_();
}

std::vector<Notice> NoticeBoard::after(std::uint64_t version) const {
  const std::lock_guard lock(mutex_);
  if (version < first_ || version > last_) return {{last_, "", "runs", -1}};
  std::vector<Notice> notices;
  for (const auto& [key, notice] : newest_) {
    if (notice.version > version) notices.push_back(notice);
  }
  std::sort(notices.begin(), notices.end(), [](const Notice& a, const Notice& b) { return a.version < b.version; });
  return notices;
}

std::uint64_t NoticeBoard::last_version() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

void NoticeBoard::on_news(std::function<void()> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

std::string to_event(const Notice& notice) {
  format::OrderedJson json{{"run", notice.run}, {"version", notice.version}, {"kind", notice.kind}};
  if (notice.last_step >= 0) json["last_step"] = notice.last_step;
  return fmt::format("id: {}\ndata: {}\n\n", notice.version, format::dump_json(json));
}

}  // namespace trainwarden::server
