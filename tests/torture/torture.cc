// torture: runs journals, mirrors and readers over simulated storages that fail, by the ten thousand, and says which
// promise was broken. Exit codes: 0 none, 1 some, 2 wrong usage.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>

#include "campaign.h"
#include "core/base/log.h"

namespace trainwarden::torture {
namespace {

constexpr std::uint64_t kSliceRuns = 800;
constexpr std::uint64_t kProofRuns = 400;

int run(int argc, char** argv) {
  CLI::App app{"Journals, mirrors and readers over simulated storages that fail, case after case.", "torture"};
  double minutes = 0;
  std::uint64_t runs = 0;
  std::optional<std::uint64_t> seed;
  std::string only, mutation;
  bool proves = false;
  app.add_option("MINUTES", minutes, "go on for so long");
  app.add_option("--runs", runs, "so many cases");
  app.add_option("--seed", seed, "play the case of this seed (with --only), or begin with it (with --runs or MINUTES)");
  app.add_option("--only", only, "cases of this kind");
  app.add_option("--mutation", mutation, "with this fault put in on purpose");
  app.add_flag("--prove", proves, "put in each known fault: it must be found");
  CLI11_PARSE(app, argc, argv);

  const auto kind = kind_of(only);
  const auto chosen = mutation.empty() ? std::optional(Mutation::kNone) : mutation_of(mutation);
  if ((!only.empty() && !kind) || !chosen) {
    fmt::print(stderr, "torture: there is no {} \"{}\"\n", !chosen ? "mutation" : "kind", !chosen ? mutation : only);
    return 2;
  }
  if (proves) return prove(runs == 0 ? kProofRuns : runs) == 0 ? 0 : 1;
  CasePlan plan;
  plan.kind = kind.value_or(Kind::kKill);
  plan.seed = seed.value_or(1);
  plan.mutation = *chosen;
  const bool plays_one = seed && kind && runs == 0 && minutes == 0;
  if (plays_one) return print_story(plan) ? 0 : 1;
  CampaignOptions options;
  options.kinds = kind ? std::vector<Kind>{*kind} : all_kinds();
  options.first_seed = plan.seed;
  options.runs = runs == 0 && minutes == 0 ? kSliceRuns : runs;
  if (minutes > 0) options.time = std::chrono::seconds(static_cast<std::int64_t>(minutes * 60));
  return run_campaign(options) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace trainwarden::torture

int main(int argc, char** argv) {
  // What the store logs of the faults is none of anybody's business here.
  trainwarden::set_log_sink([](trainwarden::LogLevel, std::string_view) {});
  try {
    return trainwarden::torture::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torture: %s\n", error.what());
    return 1;
  }
}
