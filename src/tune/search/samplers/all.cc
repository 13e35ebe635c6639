#include "tune/search/samplers/all.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tune/search/gp/gp_sampler.h"
#include "tune/search/samplers/auto_sampler.h"
#include "tune/search/samplers/cmaes_sampler.h"
#include "tune/search/samplers/grid_sampler.h"
#include "tune/search/samplers/nsga2_sampler.h"
#include "tune/search/samplers/random_sampler.h"
#include "tune/search/samplers/sobol_sampler.h"
#include "tune/search/samplers/tpe_sampler.h"

namespace trainwarden::tune {
namespace {

using SamplerMaker = std::unique_ptr<TrialSampler> (*)();

struct NamedSampler {
  std::string_view name;
  SamplerMaker make;
};

constexpr NamedSampler kSamplers[] = {
    {"auto", [] { return make_auto(); }},
    {"gp", [] { return make_gp({}); }},
    {"random", [] { return make_random_sampler(); }},
    {"sobol", [] { return make_sobol_sampler(); }},
    {"grid", [] { return make_grid_sampler(); }},
    {"tpe", [] { return make_tpe_sampler(); }},
    {"cmaes", [] { return make_cmaes_sampler(); }},
    {"nsga2", [] { return make_nsga2_sampler(); }},
};

}  // namespace

Result<std::unique_ptr<TrialSampler>> make_sampler(std::string_view name) {
  for (const NamedSampler& each : kSamplers) {
    if (each.name == name) return each.make();
  }
  return Status(Code::kNotFound,
                fmt::format("expected a sampler ({}), found {}", fmt::join(sampler_names(), ", "), name));
}

std::vector<std::string_view> sampler_names() {
  std::vector<std::string_view> names;
  for (const NamedSampler& each : kSamplers) names.push_back(each.name);
  return names;
}

}  // namespace trainwarden::tune
