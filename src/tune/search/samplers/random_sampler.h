// Points at random: the first of all others to be compared with.
#pragma once

#include <memory>

#include "tune/search/sampler.h"

namespace trainwarden::tune {

// "random": trial 0 has the first values of the space, where there are any; every other one is drawn by random_point(),
// whatever has been tried, here or in another study.
std::unique_ptr<TrialSampler> make_random_sampler();

}  // namespace trainwarden::tune
