#include "rules/rule_history.h"

#include <algorithm>
#include <iterator>

#include "rules/rule_standing.h"
#include "storage/local_storage.h"
#include "store/journal_reader.h"

namespace trainwarden::rules {
namespace {

// The rules of one journal.
class JournalHistory {
 public:
  explicit JournalHistory(std::string journal) : journal_(std::move(journal)) {}

  Status take(const std::string& json) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto status, decode_rule_status(json));
    if (status) standings_.take(journal_, *status);
    TRAINWARDEN_ASSIGN_OR_RETURN(auto verdict, decode_verdict(json));
    if (verdict) take_verdict(*std::move(verdict));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto repeats, decode_repeats(json));
    if (repeats) take_repeats(*repeats);
    return {};
  }

  void engine_gone() {
    for (const RuleStanding& standing : standings_.standings()) {
      last_unix_ns_ = std::max(last_unix_ns_, standing.status.unix_ns);
    }
    standings_.engine_gone(journal_, last_unix_ns_);
  }

  std::vector<RuleHistory> histories() && {
    std::vector<RuleHistory> histories;
    for (const RuleStanding& standing : standings_.standings()) {
      histories.push_back({journal_, standing.status, standing.transitions, {}, {}});
    }
    for (VerdictRecord& verdict : verdicts_) history_of(histories, verdict).verdicts.push_back(std::move(verdict));
    for (const RepeatsRecord& repeats : repeats_) add_repeats(histories, repeats);
    return histories;
  }

 private:
  // An engine that starts anew judges from the first step on and tells again what was told before.
  void take_verdict(VerdictRecord verdict) {
    const bool known = std::any_of(verdicts_.begin(), verdicts_.end(), [&](const VerdictRecord& earlier) {
      return earlier.place == verdict.place && earlier.rule_id == verdict.rule_id &&
             earlier.parameters == verdict.parameters;
    });
    if (!known) verdicts_.push_back(std::move(verdict));
  }

  // The same as with verdicts; an engine that got further this time tells of more.
  void take_repeats(const RepeatsRecord& repeats) {
    for (RepeatsRecord& earlier : repeats_) {
      if (earlier.rule_id != repeats.rule_id || earlier.first_step != repeats.first_step) continue;
      if (repeats.last_step > earlier.last_step) earlier = repeats;
      return;
    }
    repeats_.push_back(repeats);
  }

  // The record has no parameters: of several rules of one id, the one that told the verdict at its first step.
  static void add_repeats(std::vector<RuleHistory>& histories, const RepeatsRecord& repeats) {
    for (RuleHistory& history : histories) {
      if (history.status.rule_id != repeats.rule_id) continue;
      for (const VerdictRecord& verdict : history.verdicts) {
        if (verdict.place.global_step != repeats.first_step) continue;
        history.repeats.push_back(repeats);
        return;
      }
    }
  }

  RuleHistory& history_of(std::vector<RuleHistory>& histories, const VerdictRecord& verdict) const {
    for (RuleHistory& history : histories) {
      const RuleStatusRecord& status = history.status;
      if (status.rule_id == verdict.rule_id && status.parameters == verdict.parameters) return history;
    }
    histories.push_back({journal_, {}, {}, {}, {}});  // what was said of its status is lost
    histories.back().status.rule_id = verdict.rule_id;
    histories.back().status.rule = verdict.rule;
    histories.back().status.parameters = verdict.parameters;
    return histories.back();
  }

  const std::string journal_;
  RuleStandings standings_;
  std::vector<VerdictRecord> verdicts_;
  std::vector<RepeatsRecord> repeats_;
  std::int64_t last_unix_ns_ = 0;
};

Result<std::vector<RuleHistory>> read_journal(const storage::Storage& storage, const store::RunInfo& info,
                                              const std::string& journal) {
  // Looked at first: what an engine wrote before it let go of its lock is then read before it is taken for gone.
  const bool engine_lives = storage.locked(store::writer_lock(journal));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto reader, store::JournalReader::open(storage, info, journal, {}));
  JournalHistory history(journal);
  for (const store::EventEntry& event : reader->events()) {
    if (event.kind != format::FrameKind::kVerdict) continue;
    TRAINWARDEN_RETURN_IF_ERROR(history.take(event.json));
  }
  if (!engine_lives) history.engine_gone();
  return std::move(history).histories();
}

}  // namespace

Result<std::vector<RuleHistory>> read_rule_histories(const std::filesystem::path& run) {
  const auto storage = storage::open_local_storage(run);
  if (!storage->exists(store::kRunFile))
    return std::vector<RuleHistory>();  // another recorder's: nobody writes into it
  TRAINWARDEN_ASSIGN_OR_RETURN(const store::RunInfo info, store::read_run(*storage));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> journals, store::list_journals(*storage));
  std::vector<RuleHistory> all;
  for (const std::string& journal : journals) {
    if (journal.rfind("watch-", 0) != 0) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(auto histories, read_journal(*storage, info, journal));
    std::move(histories.begin(), histories.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace trainwarden::rules
