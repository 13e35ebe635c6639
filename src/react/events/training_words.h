// TrainingWords: what the training itself has said in its journals, and what was asked of it in the control folder.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "react/actions/run_context.h"
#include "react/events/run_facts.h"
#include "store/storage/storage.h"
#include "trainwarden/trial.h"

namespace trainwarden::events {

// One thread at a time; const methods do not touch the trial.
class TrainingWords {
 public:
  // All must outlive it.
  TrainingWords(Trial& trial, const storage::Storage& storage, const Clock& clock);

  // Takes in what is new; the trial was refreshed right before. Lists the control folder when it has not for a while,
  // or something has been said.
  void poll();

  const std::vector<StopFact>& stops() const { return stops_; }
  std::int64_t end_unix_ns() const { return end_unix_ns_; }    // of the newest run_end
  std::int64_t last_unix_ns() const { return last_unix_ns_; }  // of the newest event
  // To the request in "control/checkpoint-<key>.json" or "control/blackbox-<key>.json"; stops are in the table.
  actions::RunAnswer answer_to_save(std::string_view key) const;
  actions::RunAnswer answer_to_dump(std::string_view key) const;

 private:
  // What the workers have said about one checkpoint, by worker.
  struct Save {
    std::set<std::string> begun;
    std::map<std::string, std::string> saved;    // where to
    std::map<std::string, std::string> refused;  // why
  };
  struct Dump {
    std::string path;
    std::string error;
  };

  bool take_events();
  void take_event(const std::string& worker, const std::string& json, std::int64_t unix_ns);
  void take_accepted(const std::string& json, std::int64_t unix_ns);
  void take_requests();
  StopFact& stop_of(const std::string& key);

  Trial& trial_;
  const storage::Storage& storage_;
  const Clock& clock_;
  std::map<std::string, std::size_t> taken_;  // events of each worker
  std::vector<std::string> living_;           // workers, as of the last poll()
  std::set<std::string> seen_files_;
  std::vector<StopFact> stops_;
  std::map<std::string, Save, std::less<>> saves_;
  std::map<std::string, Dump, std::less<>> dumps_;
  std::int64_t end_unix_ns_ = 0;
  std::int64_t last_unix_ns_ = 0;
  std::int64_t listed_ns_ = 0;
  bool listed_ = false;
};

}  // namespace trainwarden::events
