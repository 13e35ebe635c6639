// What rules need to be captured, in few words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "judge/rules/step_statistics.h"
#include "trainwarden/collection.h"

namespace trainwarden::rules {

// Statistics are cheap: at every step unless stated otherwise. Whole values are not.
inline constexpr std::int64_t kValueInterval = 100;

Collection need_statistics(std::string collection, std::int64_t save_interval = 1);
Collection need_histogram(std::string collection, std::int64_t save_interval = 1);
Collection need_hash(std::string collection, std::int64_t save_interval = 1);
Collection need_values(std::string collection, std::int64_t save_interval = kValueInterval);
Collection need_signals();

// For each of the selection's collections, and one of the name `own` for its patterns (for `all`: the collection all).
std::vector<Collection> needs_of(const TensorSelection& selection, std::string_view own, const KeepForm& keep,
                                 std::int64_t save_interval);

}  // namespace trainwarden::rules
