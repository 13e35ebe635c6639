#include "ui/cli/reports/diagnosis_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "ui/cli/terminal/output.h"
#include "ui/views/diagnosis_json.h"

namespace trainwarden::cli {
namespace {

using diagnosis::CauseFinding;
using diagnosis::Diagnosis;

constexpr std::size_t kOthersShown = 2;  // on the first screen, a line each

std::string place_text(const CauseFinding& finding) {
  return finding.place.empty() ? std::string() : fmt::format(" ({})", finding.place);
}

void print_grounds(std::FILE* out, const CauseFinding& finding) {
  for (const std::string& line : finding.evidence) emit(out, "  - {}\n", line);
  for (const std::string& line : finding.against) emit(out, "  - against it: {}\n", line);
  emit(out, "  Next: {}\n", views::next_step_of(finding));
}

// What can be said of a training in which no cause was found, as far as its steps show.
std::string nothing_text(const Diagnosis& diagnosis) {
  constexpr std::size_t kEnough = 20;
  const diagnosis::Course& loss = diagnosis.symptoms.train;
  if (!diagnosis.alarms.empty()) {
    return fmt::format("Something is wrong: see what {} found. No cause is sure; the training was not examined.",
                       fmt::join(diagnosis.alarms, ", "));
  }
  if (diagnosis.examined == 0 && loss.not_finite > 0) {
    return fmt::format(
        "Something is wrong: {} of {} recorded losses are NaN or infinite. No cause is sure; the training was not "
        "examined.",
        loss.not_finite, loss.count);
  }
  if (diagnosis.examined == 0 && loss.count < kEnough && diagnosis.doubt.empty())
    return "Nothing can be said: the training was not examined.";
  if (!diagnosis.doubt.empty()) return fmt::format("Something may be wrong: {}. No cause is sure.", diagnosis.doubt);
  if (diagnosis.examined == 0) {
    return fmt::format("Nothing is wrong as far as {} recorded losses show; the training was not examined.",
                       loss.count);
  }
  return fmt::format("Nothing is wrong as far as {} of {} train steps show that were examined.", diagnosis.examined,
                     diagnosis.steps);
}

// A training that failed is never called right, whatever its steps show.
std::string unexplained_failure_text(const Diagnosis& diagnosis, const std::string& failure) {
  if (diagnosis.examined == 0)
    return fmt::format("The training failed: {}. It was not examined, so no cause can be named.", failure);
  return fmt::format("The training failed: {}. The {} of {} train steps that were examined do not show why.", failure,
                     diagnosis.examined, diagnosis.steps);
}

bool is_unexplained_failure(const Diagnosis& diagnosis, const std::string& failure) {
  return diagnosis.first() == nullptr && !failure.empty() && diagnosis.alarms.empty();
}

void print_others(std::FILE* out, const Diagnosis& diagnosis, std::size_t from) {
  for (std::size_t i = from; i < std::min(diagnosis.findings.size(), from + kOthersShown); ++i) {
    const CauseFinding& other = diagnosis.findings[i];
    emit(out, "{} ({:.0f} %): {}{}.\n", from == 0 ? "Perhaps" : "Or", 100 * other.confidence, other.statement,
         place_text(other));
  }
  if (!diagnosis.apart.empty()) emit(out, "  To tell the first two apart: {}\n", diagnosis.apart);
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis, const std::string& failure) {
  if (const CauseFinding* first = diagnosis.first(); first != nullptr)
    return fmt::format("Diagnosis ({:.0f} % sure): {}{}.", 100 * first->confidence, first->statement,
                       place_text(*first));
  return is_unexplained_failure(diagnosis, failure) ? unexplained_failure_text(diagnosis, failure)
                                                    : nothing_text(diagnosis);
}

void print_diagnosis(std::FILE* out, const Diagnosis& diagnosis, const std::string& failure, bool whole) {
  const CauseFinding* first = diagnosis.first();
  emit(out, "{}\n", diagnosis_text(diagnosis, failure));
  if (first != nullptr) {
    print_grounds(out, *first);
  } else if (is_unexplained_failure(diagnosis, failure)) {
    emit(out, "  Next: read the last lines that the program printed.\n");
  }
  if (!whole) return print_others(out, diagnosis, first == nullptr ? 0 : 1);
  for (std::size_t i = first == nullptr ? 0 : 1; i < diagnosis.findings.size(); ++i) {
    const CauseFinding& other = diagnosis.findings[i];
    emit(out, "\n{:.0f} %: {}{}.\n", 100 * other.confidence, other.statement, place_text(other));
    print_grounds(out, other);
  }
  if (!diagnosis.apart.empty()) emit(out, "\nTo tell the first two apart: {}\n", diagnosis.apart);
  for (const CauseFinding& each : diagnosis.consequences) emit(out, "\nA consequence: {}.\n", each.statement);
  if (!diagnosis.missing.empty()) emit(out, "\nNot looked at:\n");
  for (const std::string& each : diagnosis.missing) emit(out, "  - {}\n", each);
  if (diagnosis.examined == 0) return;
  emit(out, "\n{} of {} train steps were examined in full, which took {:.2f} s of the training.\n", diagnosis.examined,
       diagnosis.steps, diagnosis.spent_seconds);
}

void print_diagnosis_line(std::FILE* out, const Diagnosis& diagnosis, const std::string& run) {
  const CauseFinding* first = diagnosis.first();
  if (first == nullptr) return;
  emit(out, "diagnosis ({:.0f} % sure): {}{} (all: diagnose {})\n", 100 * first->confidence, first->statement,
       place_text(*first), run);
}

}  // namespace trainwarden::cli
