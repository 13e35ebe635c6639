#include "search_dialogue.h"

#include <istream>
#include <limits>
#include <map>
#include <memory>
#include <ostream>
#include <string>

#include "data/format/json.h"
#include "tune/search/pruners/all.h"
#include "tune/search/samplers/all.h"
#include "tune/study/study_spec.h"
#include "tune/study/study_state.h"
#include "work/document/document.h"

namespace trainwarden::bench {
namespace {

using namespace trainwarden::tune;
using format::Json, format::OrderedJson;

class SearchDialogue {
 public:
  static Result<SearchDialogue> begin(const std::string& study);
  Result<OrderedJson> answer(const std::string& line);

 private:
  SearchDialogue(const StudySpec& spec, std::unique_ptr<TrialSampler> sampler, std::unique_ptr<TrialPruner> pruner)
      : state_(spec), sampler_(std::move(sampler)), pruner_(std::move(pruner)) {}
  Result<OrderedJson> ask();
  Result<OrderedJson> report(std::int64_t trial, std::int64_t step, double value);
  Status end(std::int64_t trial, TrialState state, std::map<std::string, double> metrics);
  std::map<std::string, double> metrics_of(double value) const {
    return {{state_.history().metrics.front().name, value}};
  }

  StudyState state_;
  std::unique_ptr<TrialSampler> sampler_;
  std::unique_ptr<TrialPruner> pruner_;  // null: none
};

Result<SearchDialogue> SearchDialogue::begin(const std::string& study) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const document::DocumentValue top, document::parse(study, "the study"));
  document::Mistakes mistakes;
  const auto spec = read_study_spec(top, mistakes);
  if (!spec) return mistakes.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(auto sampler, make_sampler(spec->sampler));
  TRAINWARDEN_ASSIGN_OR_RETURN(auto pruner, make_pruner(spec->pruner));
  return SearchDialogue(*spec, std::move(sampler), std::move(pruner));
}

Result<OrderedJson> SearchDialogue::answer(const std::string& line) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json question, format::parse_json_object(line, "a question"));
  if (question.contains("ask")) return ask();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t trial, format::int_field(question, "trial", -1));
  const auto value = question.find("value");
  if (value == question.end() || !(value->is_number() || value->is_null())) {
    return Status(Code::kInvalidArgument, "expected \"ask\", or a \"trial\" and its \"value\", found " + line);
  }
  if (question.contains("step")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t step, format::int_field(question, "step", 0));
    return report(trial, step, value->is_null() ? std::numeric_limits<double>::quiet_NaN() : value->get<double>());
  }
  TRAINWARDEN_RETURN_IF_ERROR(value->is_null() ? end(trial, TrialState::kFailed, {})
                                               : end(trial, TrialState::kComplete, metrics_of(value->get<double>())));
  return OrderedJson::object();
}

Result<OrderedJson> SearchDialogue::ask() {
  const auto number = static_cast<std::int64_t>(state_.history().trials.size());
  const auto suggestion = sampler_->suggest(state_.history(), number);
  if (suggestion.status().code() == Code::kResourceExhausted) {
    return OrderedJson{{"end", std::string(suggestion.status().message())}};
  }
  if (!suggestion.ok()) return suggestion.status();
  const TriedValues values = state_.history().space.values_of(suggestion->point);
  TRAINWARDEN_RETURN_IF_ERROR(state_.apply({.kind = StudyEventKind::kSuggested,
                                            .trial = number,
                                            .values = values,
                                            .sampler = std::string(sampler_->name()),
                                            .notes = suggestion->notes}));
  TRAINWARDEN_RETURN_IF_ERROR(state_.apply({.kind = StudyEventKind::kStarted, .trial = number}));
  OrderedJson named = OrderedJson::object();
  for (const auto& [name, value] : values) named[name] = json_of(value);
  return OrderedJson{{"trial", number}, {"values", std::move(named)}};
}

Result<OrderedJson> SearchDialogue::report(std::int64_t trial, std::int64_t step, double value) {
  TRAINWARDEN_RETURN_IF_ERROR(
      state_.apply({.kind = StudyEventKind::kReported, .trial = trial, .step = step, .metrics = metrics_of(value)}));
  if (pruner_ == nullptr) return OrderedJson{{"prune", false}};
  const PruneAnswer judged = pruner_->judge(state_.history(), static_cast<std::size_t>(trial));
  if (judged.prune) TRAINWARDEN_RETURN_IF_ERROR(end(trial, TrialState::kPruned, {}));
  return OrderedJson{{"prune", judged.prune}};
}

Status SearchDialogue::end(std::int64_t trial, TrialState state, std::map<std::string, double> metrics) {
  return state_.apply({.kind = StudyEventKind::kEnded, .trial = trial, .metrics = std::move(metrics), .state = state});
}

}  // namespace

Status run_dialogue(std::istream& questions, std::ostream& answers) {
  std::string line;
  if (!std::getline(questions, line)) return Status(Code::kInvalidArgument, "expected a study, found nothing");
  TRAINWARDEN_ASSIGN_OR_RETURN(SearchDialogue dialogue, SearchDialogue::begin(line));
  answers << "{}" << std::endl;
  while (std::getline(questions, line)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const OrderedJson answer, dialogue.answer(line));
    answers << answer.dump() << std::endl;
  }
  return {};
}

}  // namespace trainwarden::bench
