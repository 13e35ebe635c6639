#include "tune/study/study_log.h"

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/log.h"
#include "data/format/json.h"

namespace trainwarden::tune {
namespace {

using format::Json;
using format::OrderedJson;

constexpr const char* kLogFolder = "log";
constexpr std::uint64_t kMaxEntryBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kMaxPackBytes = std::uint64_t{256} << 20;

std::string entry_file(std::int64_t number) {
  return fmt::format("{}/{:08}.json", kLogFolder, number);
}
std::string pack_file(std::int64_t last) {
  return fmt::format("{}/pack-{:08}.json", kLogFolder, last);
}

}  // namespace

void StudyLog::take_text(std::string_view text, const std::string& path,
                         const std::function<void(const StudyEvent&)>& take) {
  const auto document = format::parse_json_object(text, path);
  const auto list = document.ok() ? format::array_field(*document, "events") : document.status();
  if (!list.ok()) {
    ++damaged_;
    return;
  }
  for (const Json& each : **list) {
    const auto event = study_event_of(each);
    if (event.ok()) {
      take(*event);
    } else {
      ++damaged_;
    }
  }
}

Status StudyLog::read_pack(const std::function<void(const StudyEvent&)>& take, bool& was_there) {
  const std::string path = pack_file(read_ + kEntriesOfPack);
  const auto text = place_.storage().read(path, kMaxPackBytes);
  was_there = text.ok();
  if (!text.ok()) return text.status().code() == Code::kNotFound ? Status() : text.status();
  take_text(*text, path, take);
  read_ += kEntriesOfPack;
  return {};
}

Status StudyLog::read_new(const std::function<void(const StudyEvent&)>& take) {
  bool was_packed = read_ % kEntriesOfPack == 0;
  while (was_packed) TRAINWARDEN_RETURN_IF_ERROR(read_pack(take, was_packed));
  while (true) {
    const std::string path = entry_file(read_ + 1);
    const auto text = place_.storage().read(path, kMaxEntryBytes);
    if (!text.ok() && text.status().code() == Code::kNotFound) return {};
    if (!text.ok() && text.status().code() != Code::kOutOfRange) return text.status();
    take_text(text.ok() ? std::string_view(*text) : std::string_view(), path, take);
    ++read_;
    if (read_ % kEntriesOfPack == 0) try_pack();
  }
}

Status StudyLog::append(const std::vector<StudyEvent>& events) {
  OrderedJson list = OrderedJson::array();
  for (const StudyEvent& event : events) list.push_back(json_of(event));
  const std::string text = format::dump_json({{"events", std::move(list)}}) + "\n";
  TRAINWARDEN_RETURN_IF_ERROR(place_.storage().create_folder(kLogFolder));
  const std::string path = entry_file(read_ + 1);
  const Status put = place_.storage().put_if_absent(path, as_bytes(text));
  if (put.code() == Code::kAlreadyExists) return Status(Code::kAborted, "another process was faster");
  return put.with_context(place_.storage().describe(path));
}

// Who fails has lost nothing: the entries stay.
void StudyLog::try_pack() {
  const std::string path = pack_file(read_);
  if (place_.storage().exists(path)) return;
  std::string text = "{\"events\": [";
  bool is_first = true;
  for (std::int64_t number = read_ - kEntriesOfPack + 1; number <= read_; ++number) {
    const auto entry = place_.storage().read(entry_file(number), kMaxEntryBytes);
    const auto document = entry.ok() ? format::parse_json_object(*entry, path) : Result<Json>(entry.status());
    const auto list = document.ok() ? format::array_field(*document, "events") : document.status();
    if (!list.ok()) return;  // of a damaged entry nothing may be hidden
    for (const Json& each : **list) {
      text += (is_first ? "\n" : ",\n") + each.dump(-1, ' ', false, Json::error_handler_t::replace);
      is_first = false;
    }
  }
  text += "]}\n";
  if (text.size() > kMaxPackBytes) return;
  const Status put = place_.storage().put_if_absent(path, as_bytes(text));
  if (!put.ok() && put.code() != Code::kAlreadyExists) {
    log(LogLevel::kDebug, "entries of a study were not packed: {}", put.message());
  }
}

}  // namespace trainwarden::tune
