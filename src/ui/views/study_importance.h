// How much each parameter of a study mattered: as JSON, and in one line.
#pragma once

#include <string>

#include "data/format/json.h"
#include "trainwarden/status.h"
#include "tune/search/importance/importance.h"
#include "tune/study/study.h"

namespace trainwarden::views {

// The index of a metric that counts; empty: of the first objective. kInvalidArgument says which there are.
Result<std::size_t> importance_metric(const tune::Study& study, const std::string& metric);

// {"study", "metric", "trials": used, "left_out": ended without a value, "note": sentences or "",
//  "ped_anova": [{"parameter", "importance", "low", "high"}],
//  "fanova": {"r2", "trusted", "single": [as above], "pairs": [{"parameters": [a, b], "importance", "low", "high"}]}}
// Importances are shares that sum to 1 or less; lists fall. "fanova" is null where nothing can be said at all; where it
// is not trusted its lists are empty. Takes a second or so of a study of ten thousand trials.
Result<format::OrderedJson> importance_json(const tune::Study& study, const std::string& metric);

// "learning_rate 61 % (48 to 72), layers 20 % (8 to 31)": what makes a trial one of the best by the first objective;
// empty where too little is known.
std::string what_mattered_text(const tune::Study& study);
// "61 % (48 to 72)"
std::string share_text(const tune::ImportanceShare& share);

}  // namespace trainwarden::views
