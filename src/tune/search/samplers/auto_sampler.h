// The sampler that a study has when nobody has chosen one.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tune/search/sampler.h"

namespace trainwarden::tune {

struct SamplerChoice {
  std::string_view name;
  std::string why;  // one sentence, for people
};

// For the next trial of this history. It changes at most once in a study that goes on: when there are many trials.
SamplerChoice choose_sampler(const History& history);

std::unique_ptr<TrialSampler> make_auto();

}  // namespace trainwarden::tune
