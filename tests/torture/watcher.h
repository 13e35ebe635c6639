// Watcher: a reader of the journal, and what it has found so far.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "case_log.h"
#include "oracle.h"
#include "store/journal/journal_reader.h"
#include "store/storage/storage.h"

namespace trainwarden::torture {

inline constexpr const char* kWriterName = "rank-00000";
// The payload of event `number`, and back; -1: it is none.
std::string event_text(std::int64_t number);
std::int64_t event_number(std::string_view text);

class Watcher {
 public:
  // `storage` must outlive it.
  Watcher(std::string name, const storage::Storage& storage, bool live, CaseLog& log)
      : name_(std::move(name)), storage_(storage), live_(live), log_(log) {}

  // Opens, or takes in what is new; what is new is compared with what was written. The errors of the storage.
  Status look();

  // Those that are whole.
  const std::vector<std::int64_t>& steps() const { return steps_; }
  const std::vector<std::int64_t>& events() const { return events_; }
  std::vector<RunLoss> losses() const;
  // Against the oracles. `whole`: it must have found everything.
  void check(const Oracle& steps, const Oracle& events, bool whole) const;
  journal::JournalReader* reader() { return reader_.get(); }

 private:
  Status take_in();

  const std::string name_;
  const storage::Storage& storage_;
  const bool live_;
  CaseLog& log_;
  std::unique_ptr<journal::JournalReader> reader_;
  std::vector<std::int64_t> steps_, events_;
  std::size_t compared_ = 0, events_read_ = 0;
};

}  // namespace trainwarden::torture
