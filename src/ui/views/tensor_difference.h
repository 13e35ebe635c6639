// How far two tensors are apart.
#pragma once

#include <optional>

#include "judge/rules/trial_window.h"
#include "ui/views/compare.h"

namespace trainwarden::views {

// The same tensor of two runs at one step, in the fullest form that both kept. None: they are the same within the
// tolerance, or no form of the two can be compared. kDataLoss: one of them is damaged.
Result<std::optional<Parting>> difference_of(const rules::TrialWindow& a, const TensorSpot& spot_a,
                                             const rules::TrialWindow& b, const TensorSpot& spot_b, double tolerance);

}  // namespace trainwarden::views
