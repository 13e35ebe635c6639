#include "ui/cli/reports/diagnosis_view.h"

#include <fmt/format.h>

#include "judge/diagnosis/causes.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

using diagnosis::Cause;
using diagnosis::CauseFinding;
using diagnosis::Diagnosis;

constexpr std::size_t kOthersShown = 2;  // on the first screen, a line each

std::string place_text(const CauseFinding& finding) {
  return finding.place.empty() ? std::string() : fmt::format(" ({})", finding.place);
}

std::string next_step(const CauseFinding& finding) {
  const Cause* cause = diagnosis::find_cause(finding.cause);
  return cause == nullptr ? std::string() : std::string(cause->next_step);
}

std::string title(const CauseFinding& finding) {
  const Cause* cause = diagnosis::find_cause(finding.cause);
  return cause == nullptr ? finding.cause : std::string(cause->title);
}

void print_finding(std::FILE* out, const CauseFinding& finding) {
  emit(out, "{}{}.\n", finding.statement, place_text(finding));
  for (const std::string& line : finding.evidence) emit(out, "  - {}\n", line);
  for (const std::string& line : finding.against) emit(out, "  - against it: {}\n", line);
  emit(out, "  Next: {}\n", next_step(finding));
}

void print_nothing(std::FILE* out, const Diagnosis& diagnosis) {
  if (diagnosis.examined == 0) {
    emit(out, "Nothing can be said: the training was not examined.\n");
  } else {
    emit(out, "Nothing is wrong as far as {} of {} train steps show that were examined.\n", diagnosis.examined,
         diagnosis.steps);
  }
}

void print_others(std::FILE* out, const Diagnosis& diagnosis, std::size_t from) {
  for (std::size_t i = from; i < std::min(diagnosis.findings.size(), from + kOthersShown); ++i) {
    const CauseFinding& other = diagnosis.findings[i];
    emit(out, "{} ({:.0f} %): {}{}.\n", from == 0 ? "Perhaps" : "Or", 100 * other.confidence, other.statement,
         place_text(other));
  }
}

OrderedJson finding_json(const CauseFinding& finding) {
  return {{"cause", finding.cause},
          {"title", title(finding)},
          {"confidence", json_number(finding.confidence)},
          {"statement", finding.statement},
          {"evidence", finding.evidence},
          {"against", finding.against},
          {"next_step", next_step(finding)},
          {"step", finding.step},
          {"place", finding.place}};
}

OrderedJson findings_json(const std::vector<CauseFinding>& findings) {
  OrderedJson list = OrderedJson::array();
  for (const CauseFinding& finding : findings) list.push_back(finding_json(finding));
  return list;
}

}  // namespace

void print_diagnosis(std::FILE* out, const Diagnosis& diagnosis, bool whole) {
  const CauseFinding* first = diagnosis.first();
  if (first == nullptr) {
    print_nothing(out, diagnosis);
  } else {
    emit(out, "Diagnosis ({:.0f} % sure): ", 100 * first->confidence);
    print_finding(out, *first);
  }
  if (!whole) return print_others(out, diagnosis, first == nullptr ? 0 : 1);
  for (std::size_t i = first == nullptr ? 0 : 1; i < diagnosis.findings.size(); ++i) {
    emit(out, "\n{:.0f} %: ", 100 * diagnosis.findings[i].confidence);
    print_finding(out, diagnosis.findings[i]);
  }
  for (const CauseFinding& each : diagnosis.consequences) emit(out, "\nA consequence: {}.\n", each.statement);
  if (!diagnosis.missing.empty()) emit(out, "\nNot looked at:\n");
  for (const std::string& each : diagnosis.missing) emit(out, "  - {}\n", each);
  emit(out, "\n{} of {} train steps were examined in full, which took {:.2f} s of the training.\n", diagnosis.examined,
       diagnosis.steps, diagnosis.spent_seconds);
}

OrderedJson diagnosis_json(const Diagnosis& diagnosis) {
  const CauseFinding* first = diagnosis.first();
  return {{"diagnosis", first == nullptr ? OrderedJson() : finding_json(*first)},
          {"findings", findings_json(diagnosis.findings)},
          {"consequences", findings_json(diagnosis.consequences)},
          {"missing", diagnosis.missing},
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

}  // namespace trainwarden::cli
