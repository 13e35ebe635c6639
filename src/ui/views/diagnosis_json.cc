#include "ui/views/diagnosis_json.h"

#include <vector>

#include "data/format/json_number.h"
#include "judge/diagnosis/causes.h"

namespace trainwarden::views {
namespace {

using diagnosis::CauseFinding;
using diagnosis::Diagnosis;
using format::json_number;
using format::OrderedJson;

OrderedJson finding_json(const CauseFinding& finding) {
  return {{"cause", finding.cause},
          {"title", title_of(finding)},
          {"confidence", json_number(finding.confidence)},
          {"statement", finding.statement},
          {"evidence", finding.evidence},
          {"against", finding.against},
          {"next_step", next_step_of(finding)},
          {"step", finding.step},
          {"place", finding.place}};
}

OrderedJson findings_json(const std::vector<CauseFinding>& findings) {
  OrderedJson list = OrderedJson::array();
  for (const CauseFinding& finding : findings) list.push_back(finding_json(finding));
  return list;
}

}  // namespace

std::string title_of(const CauseFinding& finding) {
  const diagnosis::Cause* const cause = diagnosis::find_cause(finding.cause);
  return cause == nullptr ? finding.cause : std::string(cause->title);
}

std::string next_step_of(const CauseFinding& finding) {
  const diagnosis::Cause* const cause = diagnosis::find_cause(finding.cause);
  return cause == nullptr ? std::string() : std::string(cause->next_step);
}

OrderedJson json_of(const Diagnosis& diagnosis, const std::string& failure) {
  const CauseFinding* first = diagnosis.first();
  return {{"diagnosis", first == nullptr ? OrderedJson() : finding_json(*first)},
          {"findings", findings_json(diagnosis.findings)},
          {"consequences", findings_json(diagnosis.consequences)},
          {"apart", diagnosis.apart},
          {"missing", diagnosis.missing},
          {"doubt", diagnosis.doubt},
          {"alarms", diagnosis.alarms},
          {"failure", failure.empty() ? OrderedJson() : OrderedJson(failure)},
          {"steps", diagnosis.steps},
          {"examined_steps", diagnosis.examined},
          {"examination_seconds", json_number(diagnosis.spent_seconds)},
          {"loss",
           {{"first", json_number(diagnosis.symptoms.train.first)},
            {"late", json_number(diagnosis.symptoms.train.late)},
            {"best", json_number(diagnosis.symptoms.train.best)},
            {"peak", json_number(diagnosis.symptoms.train.peak)},
            {"noise", json_number(diagnosis.symptoms.train.noise)},
            {"trend", json_number(diagnosis.symptoms.train.trend)},
            {"roughness", json_number(diagnosis.symptoms.train.roughness)},
            {"of_constant_answer", json_number(diagnosis.symptoms.constant)},
            {"skill", json_number(diagnosis.symptoms.skill)},
            {"evaluation", json_number(diagnosis.symptoms.eval_late)},
            {"best_evaluation", json_number(diagnosis.symptoms.eval_best)},
            {"looks", diagnosis.symptoms.train.count}}}};
}

}  // namespace trainwarden::views
