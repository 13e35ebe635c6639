#include "tune/search/pruners/all.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "tune/search/pruners/asha_pruner.h"
#include "tune/search/pruners/dominated_pruner.h"
#include "tune/search/pruners/hyperband_pruner.h"
#include "tune/search/pruners/joined_pruner.h"
#include "tune/search/pruners/patient_pruner.h"
#include "tune/search/pruners/percentile_pruner.h"
#include "tune/search/pruners/pruner_keys.h"
#include "tune/search/pruners/threshold_pruner.h"
#include "tune/search/pruners/wilcoxon_pruner.h"

namespace trainwarden::tune {
namespace {

constexpr std::int64_t kMaxSteps = 1'000'000'000'000'000, kMaxTrials = 1'000'000'000, kLargestFactor = 1000;
constexpr double kLargestNumber = std::numeric_limits<double>::max();

using PrunerPointer = std::unique_ptr<TrialPruner>;

// Options are read by these; what is wrong with a key, PrunerKeys::status() says afterwards.
PercentileOptions read_percentile(PrunerKeys& keys, double percentile) {
  return {.percentile = percentile,
          .startup_trials = keys.whole("startup_trials", 5, 0, kMaxTrials),
          .warmup_steps = keys.whole("warmup_steps", 0, 0, kMaxSteps),
          .interval_steps = keys.whole("interval_steps", 1, 1, kMaxSteps),
          .min_trials = keys.whole("min_trials", 1, 1, kMaxTrials)};
}

PrunerPointer read_asha(PrunerKeys& keys) {
  return make_asha_pruner({.min_resource = keys.whole_or_auto("min_resource", std::nullopt, 1, kMaxSteps),
                           .reduction_factor = keys.whole("reduction_factor", 4, 2, kLargestFactor),
                           .early_stopping = keys.whole("early_stopping", 0, 0, 62),
                           .check_fidelity = keys.flag("check_fidelity", true),
                           .pause = keys.flag("pause", false)});
}

PrunerPointer read_hyperband(PrunerKeys& keys) {
  return make_hyperband_pruner({.min_resource = keys.whole_or_auto("min_resource", 1, 1, kMaxSteps),
                                .max_resource = keys.whole_or_auto("max_resource", std::nullopt, 1, kMaxSteps),
                                .reduction_factor = keys.whole("reduction_factor", 3, 2, kLargestFactor),
                                .check_fidelity = keys.flag("check_fidelity", true),
                                .pause = keys.flag("pause", false)});
}

PrunerPointer read_threshold(PrunerKeys& keys) {
  return make_threshold_pruner({.min = keys.number_if_given("min"),
                                .max = keys.number_if_given("max"),
                                .warmup_steps = keys.whole("warmup_steps", 0, 0, kMaxSteps)});
}

PrunerPointer read_wilcoxon(PrunerKeys& keys) {
  keys.name_first("p_threshold");
  return make_wilcoxon_pruner({.p_threshold = keys.number("p_threshold", 0.1, 0, 1),
                               .startup_steps = keys.whole("startup_steps", 2, 1, kMaxSteps)});
}

PrunerPointer read_dominated(PrunerKeys& keys) {
  return make_dominated_pruner({.min_resource = keys.whole_or_auto("min_resource", std::nullopt, 1, kMaxSteps),
                                .reduction_factor = keys.whole("reduction_factor", 2, 2, kLargestFactor),
                                .min_trials = keys.whole("min_trials", 5, 2, kMaxTrials),
                                .deviations = keys.number("deviations", 2, 0, 100)});
}

struct NamedPruner {
  std::string_view name;
  PrunerPointer (*read)(PrunerKeys& keys, PrunerPointer wrapped);  // only patient takes the one behind it
};

constexpr std::string_view kPatient = "patient";

constexpr NamedPruner kPruners[] = {
    {"none", [](PrunerKeys&, PrunerPointer) { return make_no_pruner(); }},
    {"median", [](PrunerKeys& keys, PrunerPointer) { return make_percentile_pruner(read_percentile(keys, 50)); }},
    {"percentile",
     [](PrunerKeys& keys, PrunerPointer) {
       keys.name_first("percentile");
       return make_percentile_pruner(read_percentile(keys, keys.number("percentile", 25, 0, 100)));
     }},
    {"asha", [](PrunerKeys& keys, PrunerPointer) { return read_asha(keys); }},
    {"hyperband", [](PrunerKeys& keys, PrunerPointer) { return read_hyperband(keys); }},
    {kPatient,
     [](PrunerKeys& keys, PrunerPointer wrapped) {
       keys.name_first("patience");
       keys.require("patience", "patient:8");
       const std::int64_t patience = keys.whole("patience", 1, 1, kMaxSteps);
       return make_patient_pruner({patience, keys.number("min_delta", 0, 0, kLargestNumber)}, std::move(wrapped));
     }},
    {"threshold", [](PrunerKeys& keys, PrunerPointer) { return read_threshold(keys); }},
    {"wilcoxon", [](PrunerKeys& keys, PrunerPointer) { return read_wilcoxon(keys); }},
    {"dominated", [](PrunerKeys& keys, PrunerPointer) { return read_dominated(keys); }},
};

Result<PrunerPointer> make_one_pruner(PrunerKeys& keys, PrunerPointer wrapped) {
  for (const NamedPruner& each : kPruners) {
    if (each.name != keys.name()) continue;
    PrunerPointer pruner = each.read(keys, std::move(wrapped));
    TRAINWARDEN_RETURN_IF_ERROR(keys.status());
    return pruner;
  }
  return Status(Code::kNotFound, fmt::format("expected a pruner ({}), found {}", fmt::join(pruner_names(), ", "),
                                             printable(keys.name())));
}

// At each plus before a letter: that of 1e+5 belongs to a number.
std::vector<std::string_view> split_joined(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const bool is_letter = (text[i + 1] >= 'a' && text[i + 1] <= 'z') || (text[i + 1] >= 'A' && text[i + 1] <= 'Z');
    if (text[i] != '+' || !is_letter) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

}  // namespace

Result<std::unique_ptr<TrialPruner>> make_pruner(std::string_view text) {
  const std::vector<std::string_view> parts = split_joined(text);
  if (parts.size() > kMaxJoinedPruners) {
    return Status(Code::kInvalidArgument,
                  fmt::format("expected at most {} pruners joined by +, found {}", kMaxJoinedPruners, parts.size()));
  }
  std::vector<PrunerPointer> pruners;  // from the last on, so that what a patient one wraps is there
  for (std::size_t i = parts.size(); i-- > 0;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(PrunerKeys keys, PrunerKeys::parse(parts[i]));
    PrunerPointer wrapped;
    if (keys.name() == kPatient && !pruners.empty()) {
      wrapped = std::move(pruners.back());
      pruners.pop_back();
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(PrunerPointer pruner, make_one_pruner(keys, std::move(wrapped)));
    pruners.push_back(std::move(pruner));
  }
  std::reverse(pruners.begin(), pruners.end());
  const auto pausing = std::count_if(pruners.begin(), pruners.end(), [](const auto& each) { return each->pauses(); });
  if (pausing > 1) {
    return Status(Code::kInvalidArgument,
                  fmt::format("expected pause=true in one pruner at most, found it in {}: a trial that one lets go on "
                              "would be paused by the other",
                              pausing));
  }
  return make_joined_pruner(std::move(pruners));
}

std::vector<std::string_view> pruner_names() {
  std::vector<std::string_view> names;
  for (const NamedPruner& each : kPruners) names.push_back(each.name);
  return names;
}

}  // namespace trainwarden::tune
