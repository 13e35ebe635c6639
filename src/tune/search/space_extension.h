// What becomes of a parameter that trials ask for, in another range each time perhaps.
#pragma once

#include <cstdint>
#include <optional>

#include "trainwarden/status.h"
#include "tune/search/space.h"

namespace trainwarden::tune {

// A known optional parameter with what a trial asks for under its name. A number has the union of both ranges, and the
// steps of both where they are the same, else none. kFailedPrecondition, with both in words: one is real, a whole
// number or a choice and the other is not, one is logarithmic, their choices differ, or the known one was declared, not
// asked for, and does not have exactly this range.
Result<Hyperparameter> united_parameter(const Hyperparameter& known, const Hyperparameter& asked);

// The value in its own terms that a trial gets of a parameter that nobody suggested to it: drawn uniformly by its
// position, from the stream of this seed, trial and name. `asked` is sound.
TriedValue drawn_value(const Hyperparameter& asked, std::uint64_t seed, std::int64_t trial);

// The value that `asked` has next to this one; none where it lies outside, or is no value of this kind.
std::optional<TriedValue> fitted_value(const Hyperparameter& asked, const TriedValue& value);

// A value that this parameter has, as a Point has it; NaN where it has none such.
double as_coordinate(const Hyperparameter& parameter, const TriedValue& value);

}  // namespace trainwarden::tune
