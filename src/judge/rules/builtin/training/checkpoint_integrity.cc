// CheckpointIntegrity: a checkpoint that will not bring the training back.
//
// Source: ours, after reports of large trainings (BLOOM's conflicting checkpoints). Fires when parts of the file did
// not read back as they were written; when more tensors are not finite than in the best checkpoint before; when more
// than half of all tensors are not finite; and when the file has less than half the median size of the earlier ones of
// the same name (digits aside). What may be meant is a note: tensors that were not finite from the first checkpoint on
// (a mask with infinities), and tensors that differ from the model's parameters (a copy of the best weights, averaged
// weights).
//
// State: for each of at most 64 kinds of names, the sizes of the last 16 checkpoints and the fewest non-finite tensors.
#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/builtin/training/training_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace checkpoint_integrity_rule {
namespace {

constexpr std::size_t kMostKinds = 64;
constexpr std::size_t kRememberedSizes = 16;
constexpr std::size_t kFewestSizes = 3;  // earlier ones, before a size is an outlier
constexpr double kLeastShareOfSize = 0.5;
constexpr double kMostNonFinite = 0.5;  // of the tensors
constexpr const char* kAdvice =
    "Do not overwrite the earlier checkpoints with this one; load it on another machine and compare its tensors with "
    "the collection weights of this step.";

struct Checkpoint {
  std::string path;
  double bytes = 0;
  double tensors = 0;
  double non_finite = 0;
  double different = 0;
  double damaged = 0;
};

Result<Checkpoint> read_checkpoint(const format::Json& json) {
  Checkpoint checkpoint;
  TRAINWARDEN_ASSIGN_OR_RETURN(checkpoint.path, format::string_field(json, "path"));
  const std::pair<const char*, double*> numbers[] = {{"bytes", &checkpoint.bytes},
                                                     {"tensors", &checkpoint.tensors},
                                                     {"non_finite", &checkpoint.non_finite},
                                                     {"different", &checkpoint.different},
                                                     {"damaged", &checkpoint.damaged}};
  for (const auto& [field, number] : numbers) {
    if (number == &checkpoint.damaged && !json.contains(field)) continue;  // a file without checksums
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t value, format::uint_field(json, field));
    *number = static_cast<double>(value);
  }
  return checkpoint;
}

// "/runs/model-0120.pt" → "/runs/model-#.pt"
std::string kind_of(const std::string& path) {
  std::string kind;
  for (const char c : path) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) kind += c;
    if (digit && (kind.empty() || kind.back() != '#')) kind += '#';
  }
  return kind;
}

struct Finding {
  Severity severity = Severity::kInfo;
  const char* quantity = "";
  double value = 0;
  double threshold = 0;
  std::string text;  // what is wrong with the file
};

class CheckpointHistory {
 public:
  // What is wrong with the checkpoint, the worst first; then remembers it.
  std::vector<Finding> judge(const Checkpoint& checkpoint) {
    std::vector<Finding> findings;
    judge_bytes(checkpoint, findings);
    judge_values(checkpoint, findings);
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
    sizes_.push_back(checkpoint.bytes);
    if (sizes_.size() > kRememberedSizes) sizes_.pop_front();
    fewest_non_finite_ = std::min(fewest_non_finite_.value_or(checkpoint.non_finite), checkpoint.non_finite);
    return findings;
  }

 private:
  void judge_bytes(const Checkpoint& checkpoint, std::vector<Finding>& findings) const {
    if (checkpoint.damaged > 0) {
      findings.push_back({Severity::kError, "damaged", checkpoint.damaged, 0,
                          fmt::format("{} parts of it did not read back as they were written", checkpoint.damaged)});
    }
    if (sizes_.size() < kFewestSizes) return;
    const double least = kLeastShareOfSize * median_size();
    if (checkpoint.bytes >= least) return;
    findings.push_back({Severity::kWarning, "bytes", checkpoint.bytes, least,
                        fmt::format("it has {}, less than half of what the earlier ones have",
                                    format_bytes(static_cast<std::uint64_t>(checkpoint.bytes)))});
  }

  void judge_values(const Checkpoint& checkpoint, std::vector<Finding>& findings) const {
    if (checkpoint.non_finite > 0) {
      const bool more = fewest_non_finite_ && checkpoint.non_finite > *fewest_non_finite_;
      const bool most = checkpoint.non_finite > kMostNonFinite * checkpoint.tensors;
      findings.push_back(
          {more || most ? Severity::kError : Severity::kInfo, "non_finite", checkpoint.non_finite,
           fewest_non_finite_.value_or(0),
           fmt::format("{} of its {} tensors hold NaN or an infinity", checkpoint.non_finite, checkpoint.tensors)});
    }
    if (checkpoint.different > 0) {
      findings.push_back({Severity::kInfo, "different", checkpoint.different, 0,
                          fmt::format("{} of its tensors are not what the parameters of the same name were; that is "
                                      "right for a copy of the best weights or an average of them",
                                      checkpoint.different)});
    }
  }

  double median_size() const {
    std::vector<double> sorted(sizes_.begin(), sizes_.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }

  std::deque<double> sizes_;
  std::optional<double> fewest_non_finite_;
};

class CheckpointIntegrity final : public Rule {
 public:
  Verdict evaluate(const StepWindow& window) override {
    auto found = json_signals(window, signals::kCheckpoint);
    if (found.signals.empty()) return nothing_to_judge(found.gaps, "checkpoint", window);
    Verdict worst = Verdict::ok();
    std::size_t judged = 0;
    for (const auto& [spot, json] : found.signals) {
      const auto checkpoint = read_checkpoint(json);
      if (!checkpoint.ok()) {
        found.gaps.first_damage = checkpoint.status();
        continue;
      }
      ++judged;
      add(judge(*checkpoint, spot, window), worst);
    }
    if (judged == 0) return nothing_to_judge(found.gaps, "checkpoint", window);
    return worst;
  }

  std::vector<Collection> needs() const override { return {need_signals()}; }

 private:
  Verdict judge(const Checkpoint& checkpoint, const TensorSpot& spot, const StepWindow& window) {
    const std::string kind = kind_of(checkpoint.path);
    if (histories_.size() >= kMostKinds && !histories_.contains(kind)) histories_.clear();
    const std::vector<Finding> findings = histories_[kind].judge(checkpoint);
    if (findings.empty()) return Verdict::ok();
    std::vector<Evidence> evidence;
    for (const Finding& finding : findings) {
      evidence.push_back(
          {spot.tensor, spot.shown_worker, finding.quantity, finding.value, finding.threshold, window.global_step()});
    }
    Verdict verdict = fired(fmt::format("The checkpoint {} of {} is suspect: {}.", printable(checkpoint.path),
                                        describe_step(window), findings.front().text),
                            kAdvice, std::move(evidence), findings.front().severity);
    if (verdict.severity == Severity::kInfo) verdict.confidence = 0.3;
    return verdict;
  }

  // The worst verdict of several checkpoints of one step, with the evidence of all.
  static void add(Verdict verdict, Verdict& worst) {
    if (verdict.outcome != Outcome::kFired) return;
    if (worst.outcome == Outcome::kFired && worst.severity >= verdict.severity) std::swap(verdict, worst);
    verdict.evidence.insert(verdict.evidence.end(), worst.evidence.begin(), worst.evidence.end());
    if (verdict.evidence.size() > Verdict::kMaxEvidence) verdict.evidence.resize(Verdict::kMaxEvidence);
    worst = std::move(verdict);
  }

  std::map<std::string, CheckpointHistory> histories_;  // by kind of path
};

Result<std::unique_ptr<Rule>> create(const RuleParameters&) {
  return std::unique_ptr<Rule>(new CheckpointIntegrity());
}

}  // namespace
}  // namespace checkpoint_integrity_rule

RuleKind checkpoint_integrity() {
  return {
      {.name = "CheckpointIntegrity",
       .summary = "Fires when a checkpoint is damaged, cut short, or holds values that are not finite.",
       .parameters = {},
       .topic = "training",
       .details =
           "Judges each checkpoint that the program writes (`trainwarden/checkpoint`). Fires when parts of the file "
           "did not read back as they were written; when more of its tensors hold NaN or an infinity than in an "
           "earlier checkpoint of the same name (digits aside), or more than half of them do; and when it has less "
           "than half the median size of at least 3 earlier ones.\n\n"
           "Values that are not finite already in the first checkpoint may be meant (a mask), and so may weights "
           "that differ from the model's (a copy of the best ones, an average): these are notes. Needs the "
           "signals. It cannot see checkpoints that are written by another way than the adapter follows. "
           "Evidence: `damaged`, `non_finite`, `different`, `bytes`.",
       .source = "ours, after reports of large trainings",
       .by_default = true,
       .in_process = false},
      checkpoint_integrity_rule::create};
}

}  // namespace trainwarden::rules
