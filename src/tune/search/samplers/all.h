// All samplers, by their names.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tune/search/sampler.h"

namespace trainwarden::tune {

// With the defaults of its options. kNotFound names those there are.
Result<std::unique_ptr<TrialSampler>> make_sampler(std::string_view name);
std::vector<std::string_view> sampler_names();

}  // namespace trainwarden::tune
