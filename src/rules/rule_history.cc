#include "rules/rule_history.h"

#include <algorithm>
#include <iterator>

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
    if (status) take_status(of_rule(status->rule_id), *status);
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto verdict, decode_verdict(json));
    if (verdict) take_verdict(*verdict);
    return {};
  }

  std::vector<RuleHistory>& histories() { return histories_; }

 private:
  // An engine that starts anew says again that its rules are in progress.
  static void take_status(RuleHistory& history, const RuleStatusRecord& status) {
    const bool same = !history.transitions.empty() && history.transitions.back().status == status.status;
    if (same) history.transitions.pop_back();
    history.transitions.push_back(status);
    history.status = status;
  }

  // An engine that starts anew judges from the first step on and tells again what was told before.
  void take_verdict(const VerdictRecord& verdict) {
    auto& verdicts = of_rule(verdict.rule_id).verdicts;
    const bool known = std::any_of(verdicts.begin(), verdicts.end(), [&](const VerdictRecord& earlier) {
      return earlier.place == verdict.place && earlier.parameters == verdict.parameters;
    });
    if (!known) verdicts.push_back(verdict);
  }

  RuleHistory& of_rule(const std::string& rule_id) {
    for (RuleHistory& history : histories_) {
      if (history.status.rule_id == rule_id) return history;
    }
    histories_.push_back({.journal = journal_, .status = {}, .transitions = {}, .verdicts = {}});
    histories_.back().status.rule_id = rule_id;
    return histories_.back();
  }

  std::string journal_;
  std::vector<RuleHistory> histories_;
};

Result<std::vector<RuleHistory>> read_journal(const storage::Storage& storage, const store::RunInfo& info,
                                              const std::string& journal) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto reader, store::JournalReader::open(storage, info, journal, {}));
  TRAINWARDEN_RETURN_IF_ERROR(reader->refresh());
  JournalHistory history(journal);
  for (const store::EventEntry& event : reader->events()) {
    if (event.kind != format::FrameKind::kVerdict) continue;
    TRAINWARDEN_RETURN_IF_ERROR(history.take(event.json));
  }
  const bool engine_lives = storage.locked(store::writer_lock(journal));
  for (RuleHistory& rule : history.histories()) {
    if (engine_lives || rule.status.status != RuleStatus::kInProgress) continue;
    rule.status.status = RuleStatus::kStopped;
    rule.status.details = "the program that judged it is gone";
    rule.transitions.push_back(rule.status);
  }
  return std::move(history.histories());
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

std::size_t count_fired(const std::vector<RuleHistory>& histories) {
  return static_cast<std::size_t>(std::count_if(histories.begin(), histories.end(), [](const RuleHistory& history) {
    return history.status.status == RuleStatus::kIssuesFound;
  }));
}

}  // namespace trainwarden::rules
