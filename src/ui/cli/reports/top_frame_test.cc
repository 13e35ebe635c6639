#include "ui/cli/reports/top_frame.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "ui/cli/terminal/characters.h"

namespace trainwarden::cli {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

TopFacts training() {
  TopFacts facts;
  facts.run = "first";
  facts.state = "running";
  facts.running = true;
  facts.created_unix_ns = 1'700'000'000 * kSecondNs;
  facts.last_unix_ns = facts.created_unix_ns + 60 * kSecondNs;
  facts.now_unix_ns = facts.created_unix_ns + 61 * kSecondNs;
  facts.place = "step 122 (train 120)";
  facts.done_steps = 121;
  facts.total = 200;
  facts.steps_per_second = 2;
  LossFacts loss{.name = "train CrossEntropyLoss_output_0", .last = 0.5, .last_step = 122, .lowest = 0.25};
  for (int i = 0; i <= 8; ++i) loss.points.push_back({static_cast<double>(i), 8.0 - i});
  facts.losses = {loss, LossFacts{.name = "accuracy", .points = {{0, 0.5}, {8, 0.75}}, .last = 0.75, .lowest = 0.5}};
  facts.rules = {{"LossNotDecreasing", RuleStatus::kInProgress, ""},
                 {"VanishingGradient", RuleStatus::kIssuesFound, "step 100 (train 98): gradients of fc1 are zero"}};
  facts.health = {{.collection = "weights",
                   .tensors = 8,
                   .step = 120,
                   .zero_count = 1,
                   .count = 200,
                   .largest = 0.5,
                   .largest_name = "fc1.weight"},
                  {.collection = "gradients",
                   .tensors = 8,
                   .step = 120,
                   .nan_count = 3,
                   .count = 200,
                   .largest = 1e-9,
                   .largest_name = "gradient/fc1.weight"}};
  facts.process = ProcessUse{.pid = 4711, .cpu_share = 1.5, .memory_bytes = 3u << 30, .threads = 9};
  facts.capture_share = 0.0123;
  facts.events = {"   1  10:00:00  Training: first began", "   2  10:00:50  alert: VanishingGradient fired"};
  return facts;
}

std::string frame_of(const TopFacts& facts, int rows = 24, int columns = 80, bool unicode = true) {
  return "\n" + top_frame(facts, {}, rows, columns, unicode).to_text();
}

TEST(TopFrameTest, ShowsATraining) {
  EXPECT_EQ(frame_of(training()), R"(
first  running  step 122 (train 120)                        2 steps/s  1 min 1 s
━━━━━━━━━━━━━━━━━━━━━━━━━━━━━───────────────────  60 %  121 of 200  ETA 40.0 s
Losses and scalars
▸ train CrossEntropyLoss_output…  █▇▇▆▅▅▅▅▄▃▃▂▁  last        0.5  min       0.25
  accuracy                        ▁▁▁▁▁▁▁▁▁▁▁▁█  last       0.75  min        0.5
         8│⠉⠑⠒⠒⠢⠤⠤⢄⣀⣀
          │          ⠉⠉⠉⠒⠒⠒⠤⠤⢄⣀⣀⡀
          │                     ⠈⠉⠉⠑⠒⠒⠤⠤⠤⣀⣀⣀
          │                                 ⠉⠉⠉⠉⠒⠒⠒⠒⠤⠤⠤⢄⣀⣀⡀
          │                                               ⠈⠉⠉⠑⠒⠒⠤⠤⠤⣀⣀⣀
         0│                                                           ⠉⠉⠑⠒⠒⠢⠤⠤⢄⣀
          └─────────────────────────────────────────────────────────────────────
           0                            global step                            8
Rules
  ✗ fired          VanishingGradient    step 100 (train 98): gradients of fc1 a…
  • judging        LossNotDecreasing
Tensors         tensors     step       NaN       Inf     zeros  largest |x|
  weights              8      120         0         0    0.50 %  0.5  fc1.weight
  gradients            8      120         3         0    0.00 %  1e-09  gradien…
Events
     1  10:00:00  Training: first began
     2  10:00:50  alert: VanishingGradient fired
System  process 4711  CPU 150 %  memory 3.0 GiB  threads 9  capture 1.23 %
 q quit  ↑↓ choose a series  to end the training: trainwarden stop first
)");
}

TEST(TopFrameTest, ShowsTheSameInAscii) {
  const std::string frame = frame_of(training(), 24, 80, false);
  EXPECT_TRUE(std::all_of(frame.begin(), frame.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
      << frame;
  EXPECT_EQ(frame, R"(
first  running  step 122 (train 120)                        2 steps/s  1 min 1 s
=============================-------------------  60 %  121 of 200  ETA 40.0 s
Losses and scalars
> train CrossEntropyLoss_output~  #**=~~~~-,,._  last        0.5  min       0.25
  accuracy                        ____________#  last       0.75  min        0.5
         8|*
          |         *       *
          |                          *
          |                                  *        *
          |                                                   *        *
         0|                                                                    *
          +---------------------------------------------------------------------
           0                            global step                            8
Rules
  x fired          VanishingGradient    step 100 (train 98): gradients of fc1 a~
  . judging        LossNotDecreasing
Tensors         tensors     step       NaN       Inf     zeros  largest |x|
  weights              8      120         0         0    0.50 %  0.5  fc1.weight
  gradients            8      120         3         0    0.00 %  1e-09  gradien~
Events
     1  10:00:00  Training: first began
     2  10:00:50  alert: VanishingGradient fired
System  process 4711  CPU 150 %  memory 3.0 GiB  threads 9  capture 1.23 %
 q quit  j/k choose a series  to end the training: trainwarden stop first
)");
}

TEST(TopFrameTest, SaysWhatIsNotThere) {
  TopFacts facts;
  facts.run = "empty";
  facts.state = "completed";
  facts.place = "no step yet";
  EXPECT_EQ(frame_of(facts), R"(
empty  completed  no step yet
how many steps there will be is not known (label total_steps)
Losses and scalars
  none yet












Rules
  none has judged this run: trainwarden watch empty --rules default
Tensors         tensors     step       NaN       Inf     zeros  largest |x|
  no statistics of weights, biases, gradients or outputs were kept
Events
  none
System  the training has ended
 q quit  ↑↓ choose a series
)");
}

TEST(TopFrameTest, FitsEachSize) {
  for (int rows = 1; rows < 70; rows += 3) {
    for (int columns = 1; columns < 200; columns += 7) {
      const Screen screen = top_frame(training(), {.loss = 5}, rows, columns, true);
      EXPECT_EQ(screen.rows(), rows);
      EXPECT_EQ(screen.columns(), columns);
    }
  }
  EXPECT_NE(frame_of(training(), 8, 60).find("80 x 24"), std::string::npos);
  EXPECT_NE(frame_of(training(), 50, 160).find("gradients of fc1 are zero"), std::string::npos);
}

TEST(TopFrameTest, PutsWhatFiredFirstAndCountsTheRest) {
  TopFacts facts = training();
  for (int i = 0; i < 20; ++i) {
    facts.rules.insert(facts.rules.begin(), {"Fine" + std::to_string(i), RuleStatus::kNoIssuesFound, ""});
  }
  const std::string frame = frame_of(facts);
  EXPECT_NE(frame.find("✗ fired"), std::string::npos) << frame;
  EXPECT_NE(frame.find("and 19 more"), std::string::npos) << frame;
}

TEST(TopFrameTest, LetsNoNameDriveTheTerminal) {
  TopFacts facts = training();
  const std::string hostile = "evil\x1b]0;owned\x07\u202e\u009b2Jname";
  facts.run = facts.place = facts.losses[0].name = facts.rules[1].id = facts.rules[1].words = hostile;
  facts.health[0].largest_name = facts.events[0] = hostile;
  const std::string frame = frame_of(facts, 40, 160);
  for (const char* bad : {"\x1b", "\x07", "\u202e", "\u009b"}) EXPECT_EQ(frame.find(bad), std::string::npos);
  EXPECT_NE(frame.find("evil"), std::string::npos);
}

TEST(TopFrameTest, KeepsTheChosenSeriesInSight) {
  TopFacts facts = training();
  for (int i = 0; i < 30; ++i) facts.losses.push_back({.name = "series" + std::to_string(i)});
  EXPECT_NE(top_frame(facts, {.loss = 30}, 24, 80, true).to_text().find("▸ series28"), std::string::npos);
}

TEST(TopFrameTest, ShowsALossThatIsNoNumber) {
  TopFacts facts = training();
  facts.losses[0].last = std::numeric_limits<double>::quiet_NaN();
  facts.losses[0].points.push_back({9, facts.losses[0].last});
  EXPECT_NE(frame_of(facts).find("last        NaN"), std::string::npos) << frame_of(facts);
}

TEST(TopFactsTest, TellsWhenItWillEndOnlyWhereThatIsKnown) {
  TopFacts facts = training();
  EXPECT_EQ(facts.eta_seconds(), 40);  // 79 steps at two a second
  facts.steps_per_second = 0;
  EXPECT_EQ(facts.eta_seconds(), std::nullopt);
  facts = training();
  facts.total.reset();
  EXPECT_EQ(facts.eta_seconds(), std::nullopt);
  facts = training();
  facts.running = false;
  EXPECT_EQ(facts.eta_seconds(), std::nullopt);
}

TEST(TopLineTest, SaysItAllInOneLine) {
  EXPECT_EQ(top_line(training()),
            "running  step 122 (train 120)  2 steps/s  ETA 40.0 s  train CrossEntropyLoss_output_0 0.5  accuracy 0.75  "
            "rules: 1 ok, VanishingGradient fired");
}

}  // namespace
}  // namespace trainwarden::cli
