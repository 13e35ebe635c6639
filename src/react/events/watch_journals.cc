#include "react/events/watch_journals.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace trainwarden::events {
namespace {

constexpr std::string_view kPrefix = "watch-";
constexpr std::uint32_t kFirstWatchId = 0x10000;
// Journals are numbered without gaps, so that the next one is known by name. Should somebody have left one out, it is
// found at the next listing.
constexpr std::int64_t kJournalListNs = 1'000'000'000;

}  // namespace

WatchJournals::WatchJournals(const storage::Storage& storage, const journal::RunInfo& run, const Clock& clock)
    : storage_(storage), run_(run), clock_(clock) {}

Status WatchJournals::poll(const Take& take) {
  look_for_journals();
  Status first;
  for (Followed& journal : journals_) {
    if (!has_news(journal)) continue;
    journal.stale = true;
    const Status read_status = read(journal, take);
    journal.stale = !read_status.ok();
    if (first.ok() && !read_status.ok()) first = read_status.with_context(journal.name);
  }
  return first;
}

void WatchJournals::look_for_journals() {
  const std::int64_t now = clock_.steady_ns();
  const bool next_is_there = storage_.exists(journal::journal_folder(fmt::format("{}{}", kPrefix, next_number_)));
  if (listed_ && !next_is_there && now - listed_ns_ < kJournalListNs) return;
  const auto names = journal::list_journals(storage_);
  if (!names.ok()) return;  // at the next call
  listed_ = true;
  listed_ns_ = now;
  for (const std::string& name : *names) {
    const auto id = journal::writer_id_of(name);
    if (!name.starts_with(kPrefix) || !id) continue;
    next_number_ = std::max(next_number_, *id - kFirstWatchId + 1);
    add(name);
  }
}

void WatchJournals::add(const std::string& name) {
  const bool known =
      std::any_of(journals_.begin(), journals_.end(), [&](const Followed& journal) { return journal.name == name; });
  if (known) return;
  journals_.emplace_back();
  journals_.back().name = name;
}

bool WatchJournals::has_news(Followed& journal) const {
  if (journal.stale) return true;
  if (journal.newest != nullptr) {
    const auto bytes = journal.newest->bytes();
    if (!bytes.ok() || *bytes != journal.seen_bytes) return true;
  }
  return storage_.exists(journal::journal_folder(journal.name) + "/" + journal::segment_file(journal.next_segment));
}

Status WatchJournals::find_newest_segment(Followed& journal) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto numbers, journal::list_segments(storage_, journal.name));
  if (numbers.empty() || (journal.newest != nullptr && numbers.back() + 1 == journal.next_segment)) return {};
  const std::string path = journal::journal_folder(journal.name) + "/" + journal::segment_file(numbers.back());
  TRAINWARDEN_ASSIGN_OR_RETURN(journal.newest, storage_.open(path));
  journal.next_segment = numbers.back() + 1;
  return {};
}

// The lock and the size are looked at before the entries: what is written meanwhile is news at the next call.
Status WatchJournals::read(Followed& journal, const Take& take) {
  journal.was_free = !journal::has_living_writer(storage_, journal.name);
  TRAINWARDEN_RETURN_IF_ERROR(find_newest_segment(journal));
  if (journal.newest != nullptr) {
    TRAINWARDEN_ASSIGN_OR_RETURN(journal.seen_bytes, journal.newest->bytes());
  }
  if (journal.reader == nullptr) {
    TRAINWARDEN_ASSIGN_OR_RETURN(journal.reader, journal::JournalReader::open(storage_, run_, journal.name, {}));
  } else {
    TRAINWARDEN_RETURN_IF_ERROR(journal.reader->refresh());
  }
  TRAINWARDEN_RETURN_IF_ERROR(
      journal.reader->visit_events(journal.given, [&](std::size_t index, const journal::EventEntry& event) {
        journal.given = index + 1;
        take(journal.name, index, event);
      }));
  journal.given = journal.reader->event_count();
  return {};
}

Result<bool> WatchJournals::abandoned(const std::string& journal, const Take& take) {
  const auto followed = std::find_if(journals_.begin(), journals_.end(),
                                     [&](const Followed& candidate) { return candidate.name == journal; });
  if (followed == journals_.end() || journal::has_living_writer(storage_, journal)) return false;
  TRAINWARDEN_RETURN_IF_ERROR(read(*followed, take));
  return followed->was_free;
}

std::vector<std::string> WatchJournals::names() const {
  std::vector<std::string> names;
  for (const Followed& journal : journals_) names.push_back(journal.name);
  return names;
}

}  // namespace trainwarden::events
