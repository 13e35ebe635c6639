// Rules and Watch in Python. trainwarden/rules.py has what users see.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "interruption.h"
#include "python_trial.h"
#include "trainwarden/watch.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;

// A rule in Python: `evaluate(global_step)` gives a Verdict of this module. trainwarden/rules.py turns what the rule
// itself raises into an error verdict; only what shall end everything comes here.
class PythonRule final : public Rule {
 public:
  PythonRule(nb::object evaluate, Interruption& interruption)
      : evaluate_(std::move(evaluate)), interruption_(interruption) {}
  ~PythonRule() override {
    const nb::gil_scoped_acquire gil;
    evaluate_.reset();
  }

  Verdict evaluate(const StepWindow& window) override {
    Verdict verdict = Verdict::insufficient_data("judging was interrupted");
    interruption_.guard([&] { verdict = nb::cast<Verdict>(evaluate_(window.global_step())); });
    return verdict;
  }

 private:
  nb::object evaluate_;
  Interruption& interruption_;
};

// A built-in rule, between whose steps Ctrl-C is seen.
class InterruptibleRule final : public Rule {
 public:
  InterruptibleRule(std::unique_ptr<Rule> rule, Interruption& interruption)
      : rule_(std::move(rule)), interruption_(interruption) {}

  Verdict evaluate(const StepWindow& window) override {
    interruption_.look();
    return rule_->evaluate(window);
  }

 private:
  const std::unique_ptr<Rule> rule_;
  Interruption& interruption_;
};

class PythonWatch {
 public:
  explicit PythonWatch(PythonTrial& trial) : trial_(trial) {}
  PythonWatch(const PythonWatch&) = delete;
  PythonWatch& operator=(const PythonWatch&) = delete;
  ~PythonWatch() { finish(); }

  void add_builtin(std::string_view text) {
    RuleSpec spec = value_or_raise(parse_rule_spec(text));
    auto rule = value_or_raise(create_rule(spec));
    rules_.push_back({std::move(spec), std::make_unique<InterruptibleRule>(std::move(rule), interruption_)});
  }
  void add_python(std::string name, RuleParameters parameters, nb::object evaluate) {
    auto rule = std::make_unique<PythonRule>(std::move(evaluate), interruption_);
    rules_.push_back({{std::move(name), std::move(parameters)}, std::move(rule)});
  }

  void start(bool keep_going, bool write_journal, bool stop_on_fire, nb::object on_verdict) {
    WatchOptions options;
    options.keep_going = keep_going;
    options.write_journal = write_journal;
    options.stop_on_fire = stop_on_fire;
    options.stop = interruption_.token();
    options.idle = [this] { interruption_.look(); };
    on_verdict_ = std::move(on_verdict);
    options.on_verdict = [this](const WatchVerdict& verdict) {
      interruption_.guard([&] { on_verdict_(nb::cast(verdict)); });
    };
    watch_ = value_or_raise(
        trial_.read([&](Trial& trial) { return Watch::start(trial, std::move(rules_), std::move(options)); }));
  }

  // True while there is more to come.
  bool poll() {
    const Status status = trial_.read([&](Trial&) { return watch_->poll(); });
    interruption_.rethrow();
    if (status.code() != Code::kUnavailable) raise_if_error(status);
    return trial_.look([&](Trial&) { return !watch_->run_ended() && !watch_->all_decided(); });
  }
  void finish() {
    if (watch_ != nullptr) trial_.read([&](Trial&) { watch_->finish(); });
  }

  const Watch& watch() const { return *watch_; }

 private:
  PythonTrial& trial_;
  Interruption interruption_;
  nb::object on_verdict_;
  std::vector<WatchRule> rules_;  // until start()
  std::unique_ptr<Watch> watch_;
};

using EvidenceTuple = std::tuple<std::string, std::string, double, double, std::int64_t, std::string>;

Verdict make_verdict(std::string_view outcome, std::string_view severity, std::string message, std::string advice,
                     const std::vector<EvidenceTuple>& evidence, double confidence) {
  Verdict verdict;
  verdict.confidence = confidence;
  for (const Outcome known :
       {Outcome::kOk, Outcome::kFired, Outcome::kNotApplicable, Outcome::kInsufficientData, Outcome::kError}) {
    if (name(known) == outcome) verdict.outcome = known;
  }
  for (const Severity known : {Severity::kInfo, Severity::kWarning, Severity::kError}) {
    if (name(known) == severity) verdict.severity = known;
  }
  verdict.message = std::move(message);
  verdict.advice = std::move(advice);
  for (const auto& [tensor, quantity, value, threshold, step, worker] : evidence) {
    if (verdict.evidence.size() == Verdict::kMaxEvidence) break;
    verdict.evidence.push_back({tensor, worker, quantity, value, threshold, step});
  }
  return verdict;
}

std::vector<EvidenceTuple> evidence_of(const Verdict& verdict) {
  std::vector<EvidenceTuple> evidence;
  for (const Evidence& e : verdict.evidence) {
    evidence.emplace_back(e.tensor, e.quantity, e.value, e.threshold, e.global_step, e.worker);
  }
  return evidence;
}

using SummaryTuple =
    std::tuple<std::string, std::string, std::string, std::optional<std::string>, std::int64_t, std::string>;

std::vector<SummaryTuple> job_summary(const std::string& run_dir) {
  std::vector<SummaryTuple> list;
  auto summary = [&] {
    const nb::gil_scoped_release released;
    return rule_job_summary(run_dir);
  }();
  for (const RuleJobSummary& rule : value_or_raise(std::move(summary))) {
    list.emplace_back(rule.configuration_name, rule.job_arn, rule.evaluation_status, rule.details,
                      rule.last_modified_unix_ns, std::string(name(rule.status)));
  }
  return list;
}

using RuleTuple = std::tuple<std::string, std::string, std::vector<std::tuple<std::string, std::string, std::string>>>;

// Name, summary, and name, default and description of each parameter.
std::vector<RuleTuple> builtin_rule_descriptions() {
  std::vector<RuleTuple> rules;
  for (const RuleKind& kind : builtin_rules()) {
    auto& [name, summary, parameters] =
        rules.emplace_back(kind.description.name, kind.description.summary, std::tuple_element_t<2, RuleTuple>());
    for (const RuleParameter& p : kind.description.parameters) {
      parameters.emplace_back(p.name, p.default_value, p.description);
    }
  }
  return rules;
}

void bind_records(nb::module_& module) {
  nb::class_<Verdict>(module, "Verdict", "A verdict in C++; trainwarden.rules.Verdict is the one to use.")
      .def(
          "__init__",
          [](Verdict* self, std::string_view outcome, std::string_view severity, std::string message,
             std::string advice, const std::vector<EvidenceTuple>& evidence, double confidence) {
            new (self)
                Verdict(make_verdict(outcome, severity, std::move(message), std::move(advice), evidence, confidence));
          },
          nb::arg("outcome"), nb::arg("severity"), nb::arg("message"), nb::arg("advice"), nb::arg("evidence"),
          nb::arg("confidence") = 1.0)
      .def_prop_ro("outcome", [](const Verdict& verdict) { return name(verdict.outcome); })
      .def_prop_ro("severity", [](const Verdict& verdict) { return name(verdict.severity); })
      .def_ro("message", &Verdict::message)
      .def_ro("advice", &Verdict::advice)
      .def_ro("confidence", &Verdict::confidence)
      .def_prop_ro("evidence", evidence_of);
  nb::class_<WatchVerdict>(module, "WatchVerdict", "A verdict and what it is about.")
      .def_ro("rule_id", &WatchVerdict::rule_id)
      .def_ro("global_step", &WatchVerdict::global_step)
      .def_prop_ro("mode", [](const WatchVerdict& verdict) { return name(verdict.mode); })
      .def_ro("mode_step", &WatchVerdict::mode_step)
      .def_ro("unix_ns", &WatchVerdict::unix_ns)
      .def_ro("verdict", &WatchVerdict::verdict);
  nb::class_<WatchRuleStatus>(module, "WatchRuleStatus", "Where a rule stands.")
      .def_ro("rule_id", &WatchRuleStatus::rule_id)
      .def_prop_ro("status", [](const WatchRuleStatus& status) { return name(status.status); })
      .def_ro("details", &WatchRuleStatus::details)
      .def_ro("outcomes", &WatchRuleStatus::outcomes, "Steps judged ok, fired, not applicable, insufficient, error.");
}

}  // namespace

void bind_rules(nb::module_& module) {
  bind_records(module);
  module.def("rule_job_summary", job_summary,
             "Name, arn, status, details, time in ns since 1970 and our own status of each rule of a run.",
             nb::arg("run_dir"));
  module.def("builtin_rules", builtin_rule_descriptions, "Name, summary and parameters of each built-in rule.");
  nb::class_<PythonWatch>(module, "Watch", "Judges a run with rules; trainwarden.rules.run is the one to use.")
      .def(nb::init<PythonTrial&>(), nb::arg("trial"), nb::keep_alive<1, 2>())
      .def("add_builtin", &PythonWatch::add_builtin, nb::arg("spec"))
      .def("add_python", &PythonWatch::add_python, nb::arg("name"), nb::arg("parameters"), nb::arg("evaluate"),
           nb::sig("def add_python(self, name: str, parameters: dict[str, str], "
                   "evaluate: collections.abc.Callable[[int], Verdict]) -> None"))
      .def("start", &PythonWatch::start, nb::arg("keep_going"), nb::arg("write_journal"), nb::arg("stop_on_fire"),
           nb::arg("on_verdict"),
           nb::sig("def start(self, keep_going: bool, write_journal: bool, stop_on_fire: bool, "
                   "on_verdict: collections.abc.Callable[[WatchVerdict], object]) -> None"))
      .def("poll", &PythonWatch::poll, "Judges what is new; true while there is more to come.")
      .def("finish", &PythonWatch::finish)
      .def_prop_ro("run_ended", [](const PythonWatch& self) { return self.watch().run_ended(); })
      .def_prop_ro("stop_requested", [](const PythonWatch& self) { return self.watch().stop_requested(); })
      .def_prop_ro("last_judged_step", [](const PythonWatch& self) { return self.watch().last_judged_step(); })
      .def_prop_ro("statuses", [](const PythonWatch& self) { return self.watch().statuses(); })
      .def_prop_ro("first_fired", [](const PythonWatch& self) { return self.watch().first_fired(); })
      .def_prop_ro("journal", [](const PythonWatch& self) { return self.watch().journal(); });
}

}  // namespace trainwarden::python
