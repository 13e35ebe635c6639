// What is in the training and in the evaluation: whole samples, copies of them, parts of windows.
#include <gtest/gtest.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

constexpr std::string_view kOverlap = "evaluation_on_training_data";

TEST(Overlap, SamplesThatAreTrainedOnAndEvaluated) {
  TrainingUnderTest training;
  const Values rows = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto with = [&](const Values& evaluated, double print) {
    training.numbers = {{"row_prints", rows}, {"eval_after", {5}},     {"eval_rows", evaluated},
                        {"eval_calls", {1}},  {"print_steps", {0, 1}}, {"prints", {print, 2}}};
    return is_told(training.diagnosis(), "evaluation_on_training_data");
  };
  EXPECT_TRUE(with({1, 2, 3, 9}, 1));
  EXPECT_FALSE(with({11, 12, 13, 14}, 1));
  EXPECT_FALSE(with({1, 2, 3, 9}, 2)) << "of one batch that is trained on again and again on purpose";
  const double nan = std::nan("");
  training.numbers = {{"row_prints", {nan, nan, nan, nan}}, {"eval_after", {5}}, {"eval_rows", {nan, nan, nan, nan}}};
  EXPECT_FALSE(is_told(training.diagnosis(), "evaluation_on_training_data"));
}

// Ten batches of 16 out of `in_all` samples, of which every `each`-th is the one before, and an evaluation of others
// but for `shared` of them, of which `doubles` are there twice.
struct Copied {
  int each = 4, shared = 10, doubles = 5;
  double different = 15;  // values of the feature that has most of them
};

bool are_copies(const Copied& what) {
  const TrainingHistory history = history_of_looks([&](int look) {
    Values rows, evaluated;
    for (int i = 0; i < 16; ++i) rows.push_back(0.5 + look * 16 + (what.each > 0 && i % what.each == 1 ? i - 1 : i));
    for (int i = 0; i < 40; ++i) {
      const int copy = i < what.doubles ? 20 + i : i;  // of a later one
      evaluated.push_back(copy < 20 + what.shared && copy >= 20 ? 0.5 + 4 * (copy - 20) : 1000.5 + copy);
    }
    return Numbers{{"row_prints", rows},
                   {"row_values", {what.different, 16}},
                   {"eval_after", {5.0 * look}},
                   {"eval_calls", {1}},
                   {"eval_rows", evaluated}};
  });
  return is_told(diagnose(history), kOverlap);
}

TEST(Overlap, CopiesThatWereMadeBeforeTheSplit) {
  EXPECT_TRUE(are_copies({}));
  EXPECT_FALSE(are_copies({.each = 0})) << "nothing is there twice in the training";
  EXPECT_FALSE(are_copies({.shared = 0})) << "the evaluation has others";
  EXPECT_FALSE(are_copies({.doubles = 0})) << "drawn with replacement, beside an evaluation of training samples";
  EXPECT_FALSE(are_copies({.different = 3})) << "samples that are alike by nature";
}

struct Windows {
  bool are_cut_from_one = true;
  bool are_known_whole = false;  // some that are evaluated are trained on, too
  int of_border = 40;            // only so many of them overlap, the first ones
};

bool do_overlap(const Windows& what) {
  const TrainingHistory history = history_of_looks([&](int look) {
    Values rows, pieces, evaluated, evaluated_pieces;
    for (int i = 0; i < 16; ++i) {
      rows.push_back(0.5 + (look * 16 + i) % 60);  // an epoch has 60
      for (int piece = 0; piece < 4; ++piece) pieces.push_back((look * 16 + i) % 60 + 1000.0 * piece);
    }
    for (int i = 0; i < 40; ++i) {
      evaluated.push_back(what.are_known_whole ? 0.5 + i : 200.5 + i);
      for (int piece = 0; piece < 4; ++piece) {
        const bool is_shared = what.are_cut_from_one && piece == 2 && i < what.of_border;
        evaluated_pieces.push_back(is_shared ? i + 1000.0 * piece : std::nan(""));
      }
    }
    return Numbers{{"row_prints", rows}, {"pieces", pieces},       {"eval_after", {5.0 * look}},
                   {"eval_calls", {1}},  {"eval_rows", evaluated}, {"eval_pieces", evaluated_pieces}};
  });
  const Diagnosis diagnosis = diagnose(history);
  return is_told(diagnosis, kOverlap) && diagnosis.first()->statement.find("overlap") != std::string::npos;
}

TEST(Overlap, WindowsOfOneSeriesThatWereSplitAtRandom) {
  EXPECT_TRUE(do_overlap({}));
  EXPECT_FALSE(do_overlap({.are_cut_from_one = false}));
  EXPECT_FALSE(do_overlap({.are_known_whole = true})) << "an evaluation of the training's own samples";
  EXPECT_FALSE(do_overlap({.of_border = 12})) << "the border of a split by time";
}

}  // namespace
}  // namespace trainwarden::diagnosis
