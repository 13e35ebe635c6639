#include "judge/rules/rule_history.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/rule_standing.h"
#include "store/journal/journal_reader.h"
#include "store/journal/loss_list.h"

namespace trainwarden::rules {
namespace {

using RuleKey = std::pair<std::string, RuleParameters>;

template <class Record>
RuleKey key_of(const Record& record) {
  return {record.rule_id, record.parameters};
}

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
    for (const RuleStanding& standing : standings_.standings()) {
      places_.emplace(key_of(standing.status), histories_.size());
      histories_.push_back({journal_, standing.status, standing.transitions, {}, {}});
    }
    for (VerdictRecord& verdict : verdicts_) add_verdict(std::move(verdict));
    for (const RepeatsRecord& repeats : repeats_) add_repeats(repeats);
    return std::move(histories_);
  }

 private:
  // By id, global step and, of windows of time, the end.
  using PlaceOfRule = std::tuple<std::string, std::int64_t, std::int64_t>;

  // An engine that starts again judges from the first step on and reports again what was reported before.
  void take_verdict(VerdictRecord verdict) {
    const StepPlace& place = verdict.place;
    if (known_verdicts_.emplace(key_of(verdict), place.global_step, place.mode, place.mode_step, place.to_unix_ns)
            .second) {
      verdicts_.push_back(std::move(verdict));
    }
  }

  // The same as with verdicts; an engine that got further this time has more.
  void take_repeats(const RepeatsRecord& repeats) {
    const auto [known, is_new] = repeats_told_.try_emplace(first_of(repeats), repeats_.size());
    if (is_new) {
      repeats_.push_back(repeats);
      return;
    }
    RepeatsRecord& before = repeats_[known->second];
    if (std::tie(repeats.last_step, repeats.last_to_unix_ns) > std::tie(before.last_step, before.last_to_unix_ns)) {
      before = repeats;
    }
  }

  static PlaceOfRule first_of(const RepeatsRecord& repeats) {
    return {repeats.rule_id, repeats.first_step, repeats.first_to_unix_ns};
  }

  void add_verdict(VerdictRecord verdict) {
    const std::size_t place = place_of(verdict);
    const auto [first, is_first] =
        first_with_.try_emplace({verdict.rule_id, verdict.place.global_step, verdict.place.to_unix_ns}, place);
    first->second = std::min(first->second, place);
    histories_[place].verdicts.push_back(std::move(verdict));
  }

  // The record has no parameters: of several rules of one id, the first that reported the verdict at its first place.
  void add_repeats(const RepeatsRecord& repeats) {
    const auto found = first_with_.find(first_of(repeats));
    if (found != first_with_.end()) histories_[found->second].repeats.push_back(repeats);
  }

  std::size_t place_of(const VerdictRecord& verdict) {
    const auto [known, is_new] = places_.try_emplace(key_of(verdict), histories_.size());
    if (!is_new) return known->second;
    histories_.push_back({journal_, {}, {}, {}, {}});  // what was said of its status is lost
    RuleStatusRecord& status = histories_.back().status;
    status.rule_id = verdict.rule_id;
    status.rule = verdict.rule;
    status.parameters = verdict.parameters;
    return known->second;
  }

  const std::string journal_;
  RuleStandings standings_;
  std::vector<VerdictRecord> verdicts_;
  std::set<std::tuple<RuleKey, std::int64_t, Mode, std::int64_t, std::int64_t>> known_verdicts_;  // of verdicts_
  std::vector<RepeatsRecord> repeats_;
  std::map<PlaceOfRule, std::size_t> repeats_told_;  // indexes into repeats_
  std::int64_t last_unix_ns_ = 0;

  std::vector<RuleHistory> histories_;
  std::map<RuleKey, std::size_t> places_;          // indexes into histories_
  std::map<PlaceOfRule, std::size_t> first_with_;  // the first history with a verdict there
};

Result<std::vector<RuleHistory>> read_journal(const storage::Storage& storage, const journal::RunInfo& info,
                                              const std::string& journal, const journal::JournalReaderOptions& options,
                                              std::vector<RunLoss>& losses) {
  // Looked at first: what an engine wrote before it let go of its lock is then read before it is taken for gone.
  const bool engine_lives = journal::has_living_writer(storage, journal);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto reader, journal::JournalReader::open(storage, info, journal, options));
  JournalHistory history(journal);
  journal::LossList damage;
  TRAINWARDEN_RETURN_IF_ERROR(reader->visit_events(0, [&](std::size_t entry, const journal::EventEntry& event) {
    const Status taken = event.kind == format::FrameKind::kVerdict ? history.take(event.json) : Status();
    if (taken.ok()) return;
    damage.add_damage(fmt::format("{}, entry {}", journal::journal_folder(journal), entry), 0, taken.message(), 1,
                      event.json.size());
  }));
  losses.insert(losses.end(), reader->losses().begin(), reader->losses().end());
  losses.insert(losses.end(), damage.all().begin(), damage.all().end());
  if (!engine_lives) history.engine_gone();
  return std::move(history).histories();
}

}  // namespace

Result<std::vector<RuleHistory>> read_rule_histories(const storage::Location& run) {
  std::vector<RunLoss> ignored;
  return read_rule_histories(run, ignored);
}

Result<std::vector<RuleHistory>> read_rule_histories(const storage::Location& run, std::vector<RunLoss>& losses) {
  const storage::Storage& storage = run.storage();
  if (!storage.exists(journal::kRunFile))
    return std::vector<RuleHistory>();  // another recorder's: nobody writes into it
  TRAINWARDEN_ASSIGN_OR_RETURN(const journal::RunInfo info, journal::read_run(storage));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> journals, journal::list_journals(storage));
  const journal::JournalReaderOptions options{.budget = std::make_shared<ReadBudget>()};
  std::vector<RuleHistory> all;
  for (const std::string& journal : journals) {
    if (journal.rfind("watch-", 0) != 0) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(auto histories, read_journal(storage, info, journal, options, losses));
    std::move(histories.begin(), histories.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace trainwarden::rules
