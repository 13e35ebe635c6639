#include "ui/views/profile/profile_judge.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "judge/rules/registry.h"

namespace trainwarden::views {
namespace {

constexpr const char* kSumsUp = "ProfilerReport";  // judges by all others
constexpr std::size_t kMostEvidence = 20;

// Passes on what a rule says, and remembers it.
class Remembering final : public Rule {
 public:
  Remembering(std::unique_ptr<Rule> rule, RuleAnswers& answers, std::function<void()> after)
      : rule_(std::move(rule)), answers_(answers), after_(std::move(after)) {}

  Verdict evaluate(const StepWindow& window) override { return take(rule_->evaluate(window)); }
  Verdict evaluate_time(const TimeWindow& window) override { return take(rule_->evaluate_time(window)); }
  std::optional<TimeSchedule> schedule() const override {
    auto schedule = rule_->schedule();
    // By the clock alone nothing can be said of what was recorded.
    if (schedule && schedule->metrics.patterns.empty()) return std::nullopt;
    return schedule;
  }
  bool judges_steps() const override { return rule_->judges_steps(); }

 private:
  Verdict take(Verdict verdict) {
    after_();
    const bool is_finding = verdict.outcome == Outcome::kFired && verdict.severity != Severity::kInfo;
    if (is_finding) answers_.fired = verdict;
    if (verdict.outcome == Outcome::kFired && !is_finding) answers_.noted = verdict;
    if (verdict.outcome == Outcome::kOk || verdict.outcome == Outcome::kFired) {
      count(is_finding);
    } else {
      answers_.reason = verdict;
    }
    answers_.newest = verdict;
    return verdict;
  }

  void count(bool is_finding) {
    ++answers_.judgements;
    if (is_finding) ++answers_.firings;
    if (is_finding && !answers_.is_firing) ++answers_.episodes;
    answers_.is_firing = is_finding;
  }

  const std::unique_ptr<Rule> rule_;
  RuleAnswers& answers_;
  const std::function<void()> after_;
};

std::optional<double> evidence_of(const Verdict& verdict, std::string_view quantity) {
  for (const Evidence& evidence : verdict.evidence) {
    if (evidence.quantity == quantity) return evidence.value;
  }
  return std::nullopt;
}

// The verdict that stands for all that the rule said.
std::pair<JudgedRule::Status, const Verdict*> standing_of(const RuleAnswers& answers) {
  using Status = JudgedRule::Status;
  if (answers.fired) return {Status::kFired, &*answers.fired};
  if (answers.newest && answers.newest->outcome == Outcome::kError) return {Status::kError, &*answers.newest};
  if (answers.judgements > 0) return {Status::kOk, answers.noted ? &*answers.noted : &*answers.newest};
  if (!answers.reason) return {Status::kNotApplicable, nullptr};
  if (answers.reason->outcome == Outcome::kInsufficientData) return {Status::kInsufficientData, &*answers.reason};
  return {Status::kNotApplicable, &*answers.reason};
}

std::string message_of(JudgedRule::Status status, const Verdict* verdict) {
  if (verdict != nullptr && !verdict->message.empty()) return verdict->message;
  if (status == JudgedRule::Status::kOk) return "its condition was never met";
  return "nothing of what it judges was recorded";
}

JudgedRule judged_of(const RuleAnswers& answers) {
  JudgedRule rule;
  rule.rule = answers.description.name;
  rule.summary = answers.description.summary;
  rule.parameters = answers.parameters;
  rule.judgements = answers.judgements;
  rule.firings = answers.firings;
  rule.episodes = answers.episodes;
  const auto [status, verdict] = standing_of(answers);
  rule.status = status;
  rule.message = message_of(status, verdict);
  if (verdict == nullptr) return rule;
  rule.advice = verdict->advice;
  rule.step_share = evidence_of(*verdict, "step_share");
  if (const auto gain = evidence_of(*verdict, "gain")) {
    rule.gain = Gain{*gain, evidence_of(*verdict, "gain_min").value_or(*gain),
                     evidence_of(*verdict, "gain_max").value_or(*gain)};
  }
  for (const Evidence& evidence : verdict->evidence) {
    if (rule.evidence.size() == kMostEvidence) break;
    rule.evidence.push_back({evidence.quantity, evidence.value, evidence.threshold, evidence.worker,
                             evidence.metric.empty() ? evidence.tensor : evidence.metric, evidence.global_step});
  }
  return rule;
}

std::vector<const RuleKind*> kinds_of(const std::vector<std::string>& names) {
  std::vector<const RuleKind*> kinds;
  for (const std::string& name : names) {
    if (const RuleKind* const kind = rules::find_run_rule(name)) kinds.push_back(kind);
  }
  if (!names.empty()) return kinds;
  for (const RuleKind& kind : builtin_rules()) {
    if (kind.description.profiles && kind.description.name != kSumsUp) kinds.push_back(&kind);
  }
  return kinds;
}

JudgedRule broken_rule(const std::string& name, const Status& why) {
  JudgedRule broken;
  broken.rule = name;
  broken.status = JudgedRule::Status::kError;
  broken.message = why.message();
  return broken;
}

double gain_of(const JudgedRule& rule) {
  return rule.gain ? rule.gain->expected : 0;
}

// Findings that stand for themselves, findings that others explain, what else there is.
int rank_of(const JudgedRule& rule) {
  if (rule.status == JudgedRule::Status::kFired) return rule.explained_by.empty() ? 0 : 1;
  return rule.status == JudgedRule::Status::kError ? 2 : 3;
}

std::string joined_reasons(const std::vector<JudgedRule>& rules) {
  std::vector<std::string> reasons;
  for (const JudgedRule& rule : rules) {
    if (rule.status != JudgedRule::Status::kInsufficientData) continue;
    if (std::find(reasons.begin(), reasons.end(), rule.message) == reasons.end()) reasons.push_back(rule.message);
    if (reasons.size() == 2) break;
  }
  if (reasons.empty()) return "the run holds neither phases of its steps nor samples of its machine";
  return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace

ProfileJudge::~ProfileJudge() = default;

ProfileJudge::ProfileJudge(Trial& trial, const ParametersOfRules& given, const std::vector<std::string>& kinds) {
  std::vector<rules::EngineRule> made;
  for (const RuleKind* const kind : kinds_of(kinds)) {
    const auto own = given.find(kind->description.name);
    const RuleParameters parameters = own == given.end() ? RuleParameters() : own->second;
    auto rule = rules::create_builtin(*kind, parameters);
    if (rule.ok()) {
      made.push_back(remember(kind->description, parameters, *std::move(rule)));
    } else {
      broken_.push_back(broken_rule(kind->description.name, rule.status()));
    }
  }
  rules::EngineOptions options;
  options.keep_going = true;
  engine_ = std::make_unique<rules::Engine>(trial, std::move(made), options);
}

rules::EngineRule ProfileJudge::remember(const RuleDescription& description, const RuleParameters& given,
                                         std::unique_ptr<Rule> rule) {
  auto answers = std::make_unique<RuleAnswers>();
  answers->description = description;
  answers->parameters = given;
  for (const RuleParameter& parameter : description.parameters) {
    answers->parameters.emplace(parameter.name, parameter.default_value);
  }
  const auto look_at_clock = [this] {
    if (system_clock().steady_ns() >= end_ns_) stop_.request_stop();
  };
  answers_.push_back(std::move(answers));
  return {{description.name, {}}, std::make_unique<Remembering>(std::move(rule), *answers_.back(), look_at_clock), {}};
}

Status ProfileJudge::judge(std::chrono::nanoseconds patience, std::chrono::nanoseconds at_most_every) {
  const std::int64_t now_ns = system_clock().steady_ns();
  if (!is_behind_ && now_ns - judged_ns_ < at_most_every.count()) return {};
  stop_ = std::stop_source();
  end_ns_ = now_ns + patience.count();
  const Status polled = engine_->poll(stop_.get_token());
  is_behind_ = stop_.stop_requested();
  judged_ns_ = system_clock().steady_ns();
  return polled;
}

std::vector<JudgedRule> ProfileJudge::rules() const {
  std::vector<JudgedRule> all = broken_;
  for (const auto& answers : answers_) all.push_back(judged_of(*answers));
  for (const auto& explaining : answers_) {
    if (!explaining->fired) continue;
    for (const std::string& explained : explaining->description.consequences) {
      for (JudgedRule& rule : all) {
        const bool is_it = rule.rule == explained && rule.status == JudgedRule::Status::kFired;
        if (is_it && rule.explained_by.empty()) rule.explained_by = explaining->description.name;
      }
    }
  }
  std::sort(all.begin(), all.end(), [](const JudgedRule& a, const JudgedRule& b) {
    if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
    if (gain_of(a) != gain_of(b)) return gain_of(a) > gain_of(b);
    return a.rule < b.rule;
  });
  return all;
}

ProfileVerdict verdict_of(const std::vector<JudgedRule>& rules, bool is_behind) {
  ProfileVerdict verdict;
  const auto of_status = [&](JudgedRule::Status status) {
    return std::count_if(rules.begin(), rules.end(), [&](const JudgedRule& rule) { return rule.status == status; });
  };
  if (!rules.empty() && rules.front().status == JudgedRule::Status::kFired) {
    const JudgedRule& first = rules.front();
    verdict.kind = ProfileVerdict::Kind::kFinding;
    verdict.rule = first.rule;
    verdict.text = first.message;
    verdict.advice = first.advice;
    verdict.step_share = first.step_share;
    verdict.gain = first.gain;
    return verdict;
  }
  // A few rules need next to nothing; that they are content says little.
  constexpr double kFewestJudged = 0.25;
  const auto judged = of_status(JudgedRule::Status::kOk);
  if (judged > 0 && static_cast<double>(judged) >= kFewestJudged * static_cast<double>(rules.size())) {
    verdict.kind = ProfileVerdict::Kind::kNothingFound;
    verdict.text = fmt::format("Nothing found: {} of {} rules had what they judge, and none fired{}.", judged,
                               rules.size(), is_behind ? " so far; the run is still being judged" : "");
    return verdict;
  }
  verdict.kind = ProfileVerdict::Kind::kNotEnoughData;
  verdict.text = is_behind ? "Not enough data yet: the run is still being judged."
                           : fmt::format("Not enough data: {}.", joined_reasons(rules));
  return verdict;
}

}  // namespace trainwarden::views
