// How much each parameter of a study mattered for a metric, and how sure that is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tune/search/history.h"
#include "tune/search/importance/forest_anova.h"
#include "tune/search/importance/importance_sample.h"
#include "tune/search/importance/importance_share.h"

namespace trainwarden::tune {

// Of fewer trials nothing is said.
inline constexpr std::size_t kMinImportanceTrials = 20;

struct ParameterImportance {
  std::size_t parameter = 0;  // of the space
  ImportanceShare share;
};

struct PairImportance {
  std::size_t first = 0, second = 0;  // of the space
  ImportanceShare share;
};

// What makes the metric differ over the whole space.
struct ForestImportance {
  double r2 = 0;            // of trials that the forest has not seen
  bool is_trusted = false;  // it explains enough of them; else the lists are empty
  std::vector<ParameterImportance> single;
  std::vector<PairImportance> pairs;
};

// Lists fall. A parameter of which one value alone was tried is in none.
struct StudyImportance {
  std::size_t trials = 0;    // that were used
  std::size_t left_out = 0;  // that ended without a finite value: failed, pruned
  std::string note;          // sentences: why nothing or little can be said, and what else to know; or empty
  std::vector<ParameterImportance> ped_anova;  // what makes a trial one of the best
  bool beats_chance = false;                   // more than chance would show in ped_anova
  std::optional<ForestImportance> forest;
};

enum class ImportanceParts : std::uint8_t { kAll, kPedAnova };

// Depends on the history alone. Bounded: ten thousand trials of fifty parameters take a second or so.
StudyImportance importance_of(const History& history, std::size_t metric,
                              ImportanceParts parts = ImportanceParts::kAll);

}  // namespace trainwarden::tune
