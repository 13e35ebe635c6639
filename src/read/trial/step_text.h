// Steps and tensor names in messages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/mode.h"

namespace trainwarden::trial {

std::string step_text(std::int64_t step, Mode mode);  // "train step 120", "step 120" for kGlobal

// Of `steps` (rising) the up to four around `step`: "100, 110, 130, 140"; "none" when there are none.
std::string nearest_steps(std::span<const std::int64_t> steps, std::int64_t step);

// `; did you mean "a"?`, else `; names like it are "a", "b"`, else "".
std::string name_hint(std::string_view typed, std::span<const std::string> names);

}  // namespace trainwarden::trial
