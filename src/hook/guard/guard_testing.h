// For tests of this floor: a training of one weight vector on a hook in memory, and what its journals say afterwards.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "hook/capture/open_hook.h"
#include "judge/rules/needs.h"
#include "judge/rules/verdict_record.h"
#include "read/trial/trial_access.h"
#include "store/journal/all_events.h"
#include "store/journal/journal_reader.h"
#include "store/journal/run_folder.h"
#include "store/storage/memory_storage.h"
#include "trainwarden/guard.h"
#include "trainwarden/hook.h"
#include "trainwarden/trial.h"

namespace trainwarden::guard {

template <class T>
T required(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return std::move(result).value();
}

inline std::span<const TensorSpot> selected(const StepWindow& window, const TensorSelection& selection) {
  return required(window.select(selection));
}

// A rule that does what the test says.
class TestRule final : public Rule {
 public:
  using Judge = std::function<Verdict(const StepWindow&)>;
  TestRule(Judge judge, std::vector<Collection> needs) : judge_(std::move(judge)), needs_(std::move(needs)) {}
  Verdict evaluate(const StepWindow& window) override { return judge_(window); }
  std::vector<Collection> needs() const override { return needs_; }

 private:
  const Judge judge_;
  const std::vector<Collection> needs_;
};

inline GuardRule rule_of(std::string name, TestRule::Judge judge, std::vector<Collection> needs = {}) {
  return {{std::move(name), {}}, std::make_unique<TestRule>(std::move(judge), std::move(needs))};
}

inline Verdict fired_with(Severity severity, std::string message = "it is so.") {
  return {Outcome::kFired, severity, std::move(message), "do something", {}};
}

// Fires when a gradient holds a NaN.
inline GuardRule nan_gradients(Severity severity = Severity::kError) {
  const auto judge = [severity](const StepWindow& window) -> Verdict {
    const auto spots = window.select({.collections = {"gradients"}});
    if (!spots.ok() || spots->empty()) return Verdict::not_applicable("no gradient");
    for (const TensorSpot& spot : *spots) {
      const auto statistics = window.statistics(spot);
      if (statistics.ok() && (*statistics)->nan_count > 0) return fired_with(severity, spot.tensor + " has a NaN.");
    }
    return Verdict::ok();
  };
  return rule_of("NanGradients", judge, {rules::need_statistics("gradients")});
}

// What a guard wrote into journal watch-0.
struct GuardRecords {
  std::vector<rules::VerdictRecord> verdicts;
  std::vector<rules::RepeatsRecord> repeats;
  std::vector<rules::RuleStatusRecord> statuses;
  std::vector<std::string> actions;

  RuleStatus last_status(const std::string& rule_id) const {
    RuleStatus last = RuleStatus::kInProgress;
    for (const auto& status : statuses) last = status.rule_id == rule_id ? status.status : last;
    return last;
  }
};

class GuardTest : public testing::Test {
 protected:
  void open(std::vector<GuardRule> rules, GuardOptions options = {}, HookOptions hook_options = whole()) {
    hook_ = required(capture::HookOpener::open(std::move(hook_options), storage_, clock_));
    const Status installed = Guard::install(*hook_, std::move(rules), options);
    ASSERT_TRUE(installed.ok()) << installed.to_string();
  }

  static HookOptions whole() {
    HookOptions options;
    options.save = SavePolicy::every(1);
    options.include_collections = {"gradients", "losses", "weights"};
    options.keep = KeepForm::reduced();
    options.when_full = WhenFull::kBlock;
    return options;
  }

  void save(const std::string& name, const std::vector<float>& values, const char* collection) {
    const std::string_view collections[] = {collection};
    hook_->save_tensor(
        hook_->declare(name, collections),
        TensorView::of(values.data(), DType::kFloat32, Shape({static_cast<std::int64_t>(values.size())})));
  }

  // A batch with this gradient; the weights follow it unless that is vetoed.
  StepEnd train(const std::vector<float>& gradient) {
    save("gradient/w", gradient, "gradients");
    advice_ = hook_->judge_step();
    if (advice_ == StepAdvice::kProceed) {
      for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i] -= 0.1f * gradient[i];
    }
    save("w", weights_, "weights");
    return hook_->end_step();
  }

  std::unique_ptr<Trial> trial() { return required(TrialAccess::open(storage_)); }

  GuardRecords records() {
    EXPECT_TRUE(hook_->close().ok());
    GuardRecords records;
    const journal::RunInfo run = required(journal::read_run(*storage_));
    const auto reader = required(journal::JournalReader::open(*storage_, run, "watch-0", {}));
    EXPECT_TRUE(reader->refresh().ok());
    for (const journal::EventEntry& event : journal::all_events(*reader)) {
      if (event.kind == format::FrameKind::kAction) records.actions.push_back(event.json);
      if (event.kind != format::FrameKind::kVerdict) continue;
      if (auto verdict = required(rules::decode_verdict(event.json))) records.verdicts.push_back(*verdict);
      if (auto repeats = required(rules::decode_repeats(event.json))) records.repeats.push_back(*repeats);
      if (auto status = required(rules::decode_rule_status(event.json))) records.statuses.push_back(*status);
    }
    return records;
  }

  std::shared_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
  FakeClock clock_;
  std::unique_ptr<Hook> hook_;
  std::vector<float> weights_ = {1, 2, 3};
  StepAdvice advice_ = StepAdvice::kProceed;
};

}  // namespace trainwarden::guard
