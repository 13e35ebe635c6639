// What a rule reads inside the training is what it reads of the run afterwards.
#include "hook/guard/live_window.h"

#include <cmath>
#include <cstring>
#include <map>

#include "hook/guard/guard_testing.h"
#include "judge/rules/trial_window.h"

namespace trainwarden::guard {
namespace {

std::string text_of(const Result<double>& number) {
  if (!number.ok()) return std::string(name(number.status().code()));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &*number, sizeof bits);
  return std::isnan(*number) ? "NaN" : std::to_string(bits);
}

// Everything that a rule can read of a step, as text.
std::map<std::string, std::string> read_everything(const StepWindow& window) {
  std::map<std::string, std::string> read;
  for (const TensorSpot& spot : selected(window, {.all = true})) {
    const std::string at = spot.tensor + "@" + spot.worker + spot.shown_worker + " ";
    for (int i = 0; i < kReductionCount; ++i) {
      for (const bool abs : {false, true}) {
        const auto reduction = static_cast<Reduction>(i);
        read[at + std::to_string(i) + (abs ? "abs" : "")] = text_of(window.reduction(spot, reduction, abs));
      }
    }
    const auto statistics = window.statistics(spot);
    read[at + "statistics"] = statistics.ok() ? std::to_string((*statistics)->count) + "/" +
                                                    std::to_string((*statistics)->nan_count) + "/" +
                                                    std::to_string((*statistics)->has_histogram)
                                              : std::string(name(statistics.status().code()));
    const auto saved = window.saved_reductions(spot);
    read[at + "saved"] = saved.ok() ? std::to_string(saved->size()) : std::string(name(saved.status().code()));
    read[at + "scalar"] = text_of(window.scalar(spot));
    const auto shape = window.shape(spot);
    read[at + "shape"] = shape.ok() ? shape->to_string() : std::string(name(shape.status().code()));
    const auto dtype = window.dtype(spot);
    read[at + "dtype"] = std::string(dtype.ok() ? name(*dtype) : name(dtype.status().code()));
    const auto value = window.value(spot);
    read[at + "value"] = value.ok() ? value->view.shape.to_string() : std::string(name(value.status().code()));
  }
  for (const auto& selection : {TensorSelection{.collections = {"gradients"}}, TensorSelection{.patterns = {"^x"}},
                                TensorSelection{.collections = {"nothing", "scalars"}, .patterns = {"w$"}}}) {
    std::string& names = read["selection " + std::to_string(read.size())];
    for (const TensorSpot& spot : selected(window, selection)) names += spot.tensor + " ";
  }
  read["bad pattern"] = name(window.select({.patterns = {"("}}).status().code());
  EXPECT_FALSE(window.reduction({"missing", "rank-00000", ""}, Reduction::kMean, false).ok());
  read["step"] =
      std::to_string(window.global_step()) + std::string(name(window.mode())) + std::to_string(window.mode_step());
  return read;
}

class LiveWindowTest : public GuardTest {
 protected:
  void save_one_of_each_form(float first) {
    const std::vector<float> values = {first, -2, NAN, INFINITY, 0.25f};
    save("gradient/a_long_name_of_a_layer.weight", values, "gradients");
    save("x_whole", values, "whole");
    save("x_loss", {first}, "losses");
    save("x_shape", values, "shapes");
    save("x_whole", values, "whole");  // again: x_whole#1
    const SavedReduction reductions[] = {{Reduction::kMean, false, 4.5}, {Reduction::kMax, true, 7}};
    hook_->save_reductions(hook_->declare("x_single", kGradients), reductions);
    const std::string_view strings[] = {"one", "two"};
    hook_->save_strings("x_strings", strings);
    hook_->save_scalar("x_scalar", 2.5);
  }

  static HookOptions forms() {
    HookOptions options = whole();
    options.collections = {
        {.name = "whole", .include = {"^x_whole"}, .keep = KeepForm::whole()},
        {.name = "shapes", .include = {"^x_shape"}, .keep = KeepForm{.values = false, .shape = true}},
        {.name = "texts", .include = {"^x_strings"}, .keep = KeepForm::whole()}};
    return options;
  }

  static constexpr std::string_view kGradients[] = {"gradients"};
};

TEST_F(LiveWindowTest, ReadsWhatTheRunWillHold) {
  std::vector<std::map<std::string, std::string>> inside;
  std::vector<GuardRule> rules;
  rules.push_back(rule_of("Reader",
                          [&](const StepWindow& window) {
                            inside.push_back(read_everything(window));
                            return Verdict::ok();
                          },
                          {rules::need_statistics("weights")}));
  open(std::move(rules), {}, forms());
  for (int step = 0; step < 4; ++step) {
    hook_->set_mode(step == 2 ? Mode::kEval : Mode::kTrain);
    save_one_of_each_form(static_cast<float>(step));
    hook_->judge_step();
    if (step == 3) save("x_new", {1, 2}, "gradients");  // another layout
    hook_->end_step();
  }
  ASSERT_TRUE(hook_->close().ok());
  const auto run = trial();
  ASSERT_EQ(inside.size(), 4u);
  for (int step = 0; step < 4; ++step) {
    const auto later = read_everything(rules::TrialWindow(*run, step));
    for (const auto& [what, now] : inside[static_cast<std::size_t>(step)]) {
      EXPECT_EQ(now, later.count(what) > 0 ? later.at(what) : "nothing") << what << " at step " << step;
    }
    EXPECT_EQ(inside[static_cast<std::size_t>(step)].size(), later.size());
    EXPECT_GT(later.size(), 100u);
  }
}

TEST_F(LiveWindowTest, NoticesATensorThatJoinsACollection) {
  std::vector<std::size_t> seen;
  std::vector<GuardRule> rules;
  rules.push_back(rule_of("Counter",
                          [&](const StepWindow& window) {
                            seen.push_back(selected(window, {.collections = {"chosen"}}).size());
                            return Verdict::ok();
                          },
                          {rules::need_statistics("weights")}));
  open(std::move(rules));
  train({1, 2, 3});
  train({1, 2, 3});
  const std::string_view chosen[] = {"chosen"};
  hook_->declare("w", chosen);
  train({1, 2, 3});
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 0, 1}));
}

TEST_F(LiveWindowTest, AValueMayOutliveTheStep) {
  SharedTensorValue kept;
  std::vector<GuardRule> rules;
  rules.push_back(rule_of("Keeper",
                          [&](const StepWindow& window) {
                            const auto spots = window.select({.collections = {"whole"}});
                            if (!spots->empty()) kept = required(window.value(spots->front()));
                            return Verdict::ok();
                          },
                          {rules::need_statistics("weights")}));
  open(std::move(rules), {}, forms());
  save("x_whole", {7, 8}, "whole");
  hook_->end_step();
  ASSERT_TRUE(hook_->close().ok());
  hook_.reset();
  ASSERT_NE(kept.view.data, nullptr);
  EXPECT_EQ(static_cast<const float*>(kept.view.data)[1], 8);
}

}  // namespace
}  // namespace trainwarden::guard
