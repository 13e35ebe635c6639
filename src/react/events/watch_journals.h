// WatchJournals: follows the journals of all engines that judge a run, for next to nothing while nobody writes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "store/journal/journal_reader.h"
#include "store/journal/run_folder.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::events {

// One thread at a time.
class WatchJournals {
 public:
  // `entry`: its number in the journal, from 0.
  using Take = std::function<void(const std::string& journal, std::uint64_t entry, const journal::EventEntry&)>;

  // All must outlive it.
  WatchJournals(const storage::Storage& storage, const journal::RunInfo& run, const Clock& clock);

  // Gives each entry once, in the order of writing within a journal. A journal that cannot be read now is read at the
  // next call; the first failure is returned. While nothing is written it looks at sizes and names and lists no folder.
  Status poll(const Take& take);
  // Does nobody write the journal any more? All that was written has then been given. Asks the storage.
  Result<bool> abandoned(const std::string& journal, const Take& take);
  std::vector<std::string> names() const;

 private:
  struct Followed {
    std::string name;
    std::unique_ptr<journal::JournalReader> reader;
    std::size_t given = 0;                          // entries
    std::unique_ptr<storage::ReadableFile> newest;  // segment
    std::uint64_t next_segment = 0;                 // number of the segment after that
    std::uint64_t seen_bytes = 0;                   // of the newest segment, before it was read
    bool was_free = false;                          // nobody held the journal's lock before it was read
    bool stale = true;                              // not read to its end
  };

  void look_for_journals();
  void add(const std::string& name);
  bool has_news(Followed& journal) const;
  Status read(Followed& journal, const Take& take);
  Status find_newest_segment(Followed& journal);

  const storage::Storage& storage_;
  const journal::RunInfo run_;
  const Clock& clock_;
  std::vector<Followed> journals_;
  std::uint32_t next_number_ = 0;  // of the watch journal that would come next
  std::int64_t listed_ns_ = 0;     // when the folder of journals was listed last, on the steady clock
  bool listed_ = false;
};

}  // namespace trainwarden::events
