// Repeats: values that have been tried already, whose results are known without another run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tune/study/study_state.h"

namespace trainwarden::tune {

// So many suggestions in a row that had all been tried end a study: its sampler has nothing new to say.
inline constexpr std::int64_t kMaxRepeatsInRow = 100;
// Of a trial whose code and data nobody can name. It is the same as no other one.
inline constexpr const char* kUnknownFingerprint = "unknown";

struct KnownResult {
  std::string study;  // that it was inherited from; empty: this one
  std::int64_t trial = -1;
  std::map<std::string, double> metrics;  // by name
  std::string text() const;               // "the same values as trial 7", "... of squad"
};

// The first complete trial of this study with exactly these values and this fingerprint, else of those that it has
// inherited. An empty fingerprint, of trials that are run by hand, is the same as another one within a study, whose
// user runs one program; of what was inherited it says nothing.
std::optional<KnownResult> known_result(const StudyState& state, const Point& point, const std::string& fingerprint);

// How many of the newest trials that a sampler suggested, one after the other, were answered from history.
std::int64_t repeats_in_row(const StudyState& state);

}  // namespace trainwarden::tune
