#include "campaign.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "bucket_case.h"
#include "clock_case.h"
#include "local_case.h"
#include "share_case.h"

namespace trainwarden::torture {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr std::uint64_t kMaxStories = 3;
constexpr std::size_t kMaxSeeds = 10;

CaseLog played(const CasePlan& plan, bool keeps_story) {
  CaseLog log(keeps_story);
  play(plan, log);
  return log;
}

bool breaks(const CasePlan& plan) {
  return !played(plan, false).violations().empty();
}

// The same case with as few actions and sorts of faults as still break a promise.
CasePlan shortened(CasePlan plan) {
  for (int actions = 1; actions < 64; ++actions) {
    CasePlan shorter = plan;
    shorter.most_actions = actions;
    if (!breaks(shorter)) continue;
    plan = shorter;
    break;
  }
  for (unsigned sort = 0; sort < static_cast<unsigned>(FaultSort::kCount); ++sort) {
    CasePlan calmer = plan;
    calmer.without |= std::uint32_t{1} << sort;
    if (breaks(calmer)) plan = calmer;
  }
  return plan;
}

void print_replay(const CasePlan& plan) {
  fmt::print("./dev torture --seed {} --only {}", plan.seed, name(plan.kind));
  if (plan.mutation != Mutation::kNone) fmt::print(" --mutation {}", name(plan.mutation));
  fmt::print("\n");
}

struct KindTotal {
  std::uint64_t runs = 0, violations = 0, losses = 0;
  double seconds = 0;
  FaultCounts faults{};
  std::vector<std::uint64_t> seeds;  // of violations
};

void add(KindTotal& total, const CaseLog& log, std::uint64_t seed) {
  ++total.runs;
  total.losses += log.losses();
  for (std::size_t i = 0; i < total.faults.size(); ++i) total.faults[i] += log.counts()[i];
  if (log.violations().empty()) return;
  ++total.violations;
  total.seeds.push_back(seed);
}

void print_table(const std::array<KindTotal, static_cast<std::size_t>(Kind::kCount)>& totals) {
  fmt::print("\n| kind | runs | runs/s | faults | losses told | violations |\n|---|---:|---:|---:|---:|---:|\n");
  KindTotal all;
  const auto print_row = [](std::string_view what, const KindTotal& total) {
    std::uint64_t faults = 0;
    for (const std::uint64_t count : total.faults) faults += count;
    fmt::print("| {} | {} | {:.0f} | {} | {} | {} |\n", what, total.runs,
               static_cast<double>(total.runs) / std::max(total.seconds, 1e-9), faults, total.losses, total.violations);
  };
  for (const Kind kind : all_kinds()) {
    const KindTotal& total = totals[static_cast<std::size_t>(kind)];
    if (total.runs == 0) continue;
    print_row(name(kind), total);
    all.runs += total.runs, all.violations += total.violations, all.losses += total.losses;
    all.seconds += total.seconds;
    for (std::size_t i = 0; i < all.faults.size(); ++i) all.faults[i] += total.faults[i];
  }
  print_row("all", all);
  fmt::print("\n| fault | put in |\n|---|---:|\n");
  for (std::size_t i = 0; i < all.faults.size(); ++i) {
    if (all.faults[i] > 0) fmt::print("| {} | {} |\n", name(static_cast<FaultSort>(i)), all.faults[i]);
  }
  for (const Kind kind : all_kinds()) {
    const std::vector<std::uint64_t>& seeds = totals[static_cast<std::size_t>(kind)].seeds;
    for (std::size_t i = 0; i < std::min(seeds.size(), kMaxSeeds); ++i) {
      fmt::print("violated: ./dev torture --seed {} --only {}\n", seeds[i], name(kind));
    }
    if (seeds.size() > kMaxSeeds) fmt::print("... and {} more of {}\n", seeds.size() - kMaxSeeds, name(kind));
  }
}

}  // namespace

const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> kinds = {Kind::kKill,   Kind::kPower,  Kind::kFull,  Kind::kShared,
                                          Kind::kBucket, Kind::kMirror, Kind::kClock, Kind::kListing};
  return kinds;
}

void play(const CasePlan& plan, CaseLog& log) {
  switch (plan.kind) {
    case Kind::kShared: return play_shared(plan, log);
    case Kind::kBucket:
    case Kind::kMirror:
    case Kind::kListing: return play_bucket(plan, log);
    case Kind::kClock: return play_clock(plan, log);
    default: return play_local(plan, log);
  }
}

bool print_story(const CasePlan& plan) {
  const CaseLog log = played(plan, true);
  for (const std::string& line : log.story()) fmt::print("{}\n", line);
  fmt::print("{} violations, {} losses told; again with: ", log.violations().size(), log.losses());
  print_replay(plan);
  return log.violations().empty();
}

std::uint64_t run_campaign(const CampaignOptions& options) {
  std::array<KindTotal, static_cast<std::size_t>(Kind::kCount)> totals;
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t broken = 0;
  for (std::uint64_t run = 0; options.runs == 0 || run < options.runs; ++run) {
    const auto now = std::chrono::steady_clock::now();
    if (options.time && now - begin >= *options.time) break;
    CasePlan plan;
    plan.kind = options.kinds[run % options.kinds.size()];
    plan.seed = options.first_seed + run;
    const CaseLog log = played(plan, false);
    KindTotal& total = totals[static_cast<std::size_t>(plan.kind)];
    add(total, log, plan.seed);
    total.seconds += Seconds(std::chrono::steady_clock::now() - now).count();
    if (log.violations().empty() || ++broken > kMaxStories) continue;
    fmt::print("\n{}, seed {}: {}\nThe shortest story:\n", name(plan.kind), plan.seed, log.violations().front());
    print_story(shortened(plan));
    std::fflush(stdout);
  }
  print_table(totals);
  fmt::print("{:.1f} s\n", Seconds(std::chrono::steady_clock::now() - begin).count());
  return broken;
}

int prove(std::uint64_t most_runs) {
  int missed = 0;
  fmt::print("| put in | kind | found in run | as |\n|---|---|---:|---|\n");
  for (std::size_t i = 1; i < static_cast<std::size_t>(Mutation::kCount); ++i) {
    CasePlan plan;
    plan.mutation = static_cast<Mutation>(i);
    plan.kind = kind_that_finds(plan.mutation);
    if (std::find(all_kinds().begin(), all_kinds().end(), plan.kind) == all_kinds().end()) continue;
    std::string found = "NOT FOUND";
    for (plan.seed = 1; plan.seed <= most_runs; ++plan.seed) {
      const CaseLog log = played(plan, false);
      if (log.violations().empty()) continue;
      found = log.violations().front();
      break;
    }
    if (plan.seed > most_runs) ++missed;
    fmt::print("| {} | {} | {} | {} |\n", name(plan.mutation), name(plan.kind), plan.seed, found);
  }
  return missed;
}

}  // namespace trainwarden::torture
