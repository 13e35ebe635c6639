#include "judge/rules/watch_journal.h"

#include <fmt/format.h>

namespace trainwarden::rules {

Result<WatchJournal> open_watch_journal(storage::Storage& storage, const Clock& clock, const journal::RunInfo& run) {
  for (int number = 0; number < kMaxWatchJournals; ++number) {
    journal::JournalOptions options;
    options.writer = fmt::format("watch-{}", number);
    options.writer_id = journal::writer_id_of(options.writer).value_or(0);
    WatchJournal journal{options.writer, nullptr};
    auto writer = journal::JournalWriter::open(storage, clock, run, std::move(options));
    if (!writer.ok() && writer.status().code() == Code::kAlreadyExists) continue;
    TRAINWARDEN_RETURN_IF_ERROR(writer.status());
    journal.writer = *std::move(writer);
    return journal;
  }
  return Status(Code::kResourceExhausted,
                fmt::format("{} other engines watch this run; end some of them first", kMaxWatchJournals));
}

}  // namespace trainwarden::rules
