// What a stop at a target is worth, by simulation: the seed's rule, "the mean of a sample has passed the target",
// beside the bound of the rule TargetReached. Prints the table of docs/guide/stop-at-a-target.md.
//
//     stop_simulation [--trials N] [--check]
//
// --check: exits 1 unless the bound keeps its promise and the mean alone does not.
//
// The model, in points of F1: a training is looked at 60 times. The true mean rises from 75 towards its end by
// 1 - exp(-look / 8), and wobbles by 0.15 from look to look. Each item of a sample has a latent number that is standard
// normal: 0.7 of its variance stays over all looks, the rest is an autoregression with 0.8. Where it is high the score
// is 1, where it is low 0, between partial; thresholds follow the mean so that it is exact, and at 88 the deviation of
// scores is 27, as that of BERT's F1 on SQuAD. What it can show depends on these numbers, which are assumed; that
// the bound holds does not.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trainwarden/mean_bound.h"

namespace trainwarden {
namespace {

constexpr int kLooks = 60;
constexpr double kTarget = 0.88;
constexpr double kAlpha = 0.05;
constexpr std::size_t kSample = 1057;
constexpr std::size_t kAll = 10570;

struct Look {
  double truth = 0;  // mean over all items that there are
  double mean = 0;   // over the sample
  std::vector<double> scores;
};
using Training = std::vector<Look>;

// The latent number below which a part of a normal distribution lies, by halving.
double quantile(double part) {
  double low = -9;
  double high = 9;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < part ? low : high) = middle;
  }
  return low;
}

// Of a look whose mean is `truth`: 0.42 of what is missing are zeros, and 1.16 of it partial scores, evenly spread, so
// that 1 - 1.58 · missing + 0.58 · missing = truth.
void score(const std::vector<double>& latent, Look& look) {
  const double missing = 1 - look.truth;
  const double zeros = 0.42 * missing;
  const double partial = 1.16 * missing;
  const double low = quantile(zeros);
  const double high = quantile(zeros + partial);
  look.scores.reserve(latent.size());
  for (const double z : latent) {
    const double below = 0.5 * std::erfc(-z / std::sqrt(2.0));
    const double value = z < low ? 0 : z >= high ? 1 : (below - zeros) / partial;
    look.scores.push_back(value);
    look.mean += value;
  }
  look.mean /= static_cast<double>(latent.size());
}

Training train(std::mt19937_64& engine, double end, std::size_t items) {
  std::normal_distribution<double> normal;
  std::vector<double> lasting(items);
  std::vector<double> passing(items);
  for (std::size_t i = 0; i < items; ++i) lasting[i] = normal(engine), passing[i] = normal(engine);
  Training training;
  std::vector<double> latent(items);
  for (int number = 1; number <= kLooks; ++number) {
    Look& look = training.emplace_back();
    look.truth = end - (end - 0.75) * std::exp(-number / 8.0) + 0.0015 * normal(engine);
    for (std::size_t i = 0; i < items; ++i) {
      passing[i] = 0.8 * passing[i] + 0.6 * normal(engine);
      latent[i] = std::sqrt(0.7) * lasting[i] + std::sqrt(0.3) * passing[i];
    }
    score(latent, look);
  }
  return training;
}

// Whether it stops at look `number`, from 1.
struct Stop {
  const char* name;
  std::function<bool(const Training&, int number)> stops;
};

bool mean_passes(const Training& training, int number) {
  return number >= 1 && training[static_cast<std::size_t>(number) - 1].mean > kTarget;
}

// The rest is evaluated only where a part says that it may be worth it.
bool part_and_all_pass(const Training& training, int number) {
  const std::vector<double>& scores = training[static_cast<std::size_t>(number) - 1].scores;
  const auto part = std::accumulate(scores.begin(), scores.begin() + kSample, 0.0) / kSample;
  return part > kTarget && mean_passes(training, number);
}

bool bound_passes(const Training& training, int number, std::int64_t looks) {
  if (!mean_passes(training, number)) return false;
  const double alpha = alpha_of_look(kAlpha, number, looks);
  return is_bound_above(kTarget, training[static_cast<std::size_t>(number) - 1].scores, alpha);
}

// A look at every sixth only, ten in all.
bool rare_bound_passes(const Training& training, int number) {
  if (number % 6 != 0 || !mean_passes(training, number)) return false;
  const double alpha = alpha_of_look(kAlpha, number / 6, kLooks / 6);
  return is_bound_above(kTarget, training[static_cast<std::size_t>(number) - 1].scores, alpha);
}

const std::array kStops = {
    Stop{"mean of the sample (seed 003)", mean_passes},
    Stop{"mean, twice in a row",
         [](const Training& training, int number) {
           return mean_passes(training, number) && mean_passes(training, number - 1);
         }},
    Stop{"bound, looks not known", [](const Training& t, int number) { return bound_passes(t, number, 0); }},
    Stop{"bound, looks=60", [](const Training& t, int number) { return bound_passes(t, number, kLooks); }},
    Stop{"bound, looks=10, every 6th", rare_bound_passes},
    Stop{"mean of 1,057 of them, then of all", part_and_all_pass},
};

constexpr std::size_t kMeanAlone = 0;
constexpr std::size_t kFirstBound = 2;
constexpr std::size_t kKnownLooks = 3;
constexpr std::size_t kTwoStages = 5;

struct Tally {
  int stops = 0;
  int false_stops = 0;  // where the true mean was below the target
  double flattery = 0;  // Σ mean of the sample - true mean, at the stop
  double past = 0;      // Σ true mean - target, at the stop
  double delay = 0;     // Σ looks since the true mean came to the target for the first time
};

void add(const Training& training, const Stop& stop, Tally& tally) {
  const auto reached =
      std::find_if(training.begin(), training.end(), [](const Look& look) { return look.truth >= kTarget; });
  for (int number = 1; number <= kLooks; ++number) {
    if (!stop.stops(training, number)) continue;
    const Look& look = training[static_cast<std::size_t>(number) - 1];
    ++tally.stops;
    tally.false_stops += look.truth < kTarget ? 1 : 0;
    tally.flattery += look.mean - look.truth;
    tally.past += look.truth - kTarget;
    tally.delay += static_cast<double>(number - 1 - (reached - training.begin()));
    return;
  }
}

std::array<Tally, kStops.size()> simulate(double end, std::size_t items, int trials) {
  std::mt19937_64 engine(1);
  std::array<Tally, kStops.size()> tallies;
  for (int trial = 0; trial < trials; ++trial) {
    const Training training = train(engine, end, items);
    for (std::size_t i = 0; i < kStops.size(); ++i) add(training, kStops[i], tallies[i]);
  }
  return tallies;
}

void print(double end, std::size_t items, int trials, const std::array<Tally, kStops.size()>& tallies) {
  for (std::size_t i = 0; i < kStops.size(); ++i) {
    if (items == kSample && i == kTwoStages) continue;  // the same as the first
    const Tally& tally = tallies[i];
    const auto percent = [&](int count) { return 100.0 * count / trials; };
    const auto mean = [&](double sum, double unit, int digits) {
      return tally.stops == 0 ? std::string("-") : fmt::format("{:+.{}f}", unit * sum / tally.stops, digits);
    };
    const bool is_there = end > kTarget;
    fmt::print("| {:+.1f} | {} | {} | {:.1f} % | {:.1f} % | {} | {} | {} |\n", 100 * (end - kTarget), items,
               kStops[i].name, percent(tally.stops), percent(tally.false_stops), mean(tally.flattery, 100, 2),
               mean(tally.past, 100, 2), is_there ? mean(tally.delay, 1, 1) : "-");
  }
}

// Problems; none when the figures are as the guide says.
std::vector<std::string> problems_of(double end, int trials, const std::array<Tally, kStops.size()>& tallies) {
  std::vector<std::string> problems;
  const double most = kAlpha * trials + 3 * std::sqrt(kAlpha * (1 - kAlpha) * trials);
  for (std::size_t i = kFirstBound; i < kTwoStages; ++i) {
    if (tallies[i].false_stops > most) problems.push_back(fmt::format("{}: {} false stops", kStops[i].name, end));
  }
  if (end < kTarget && tallies[kMeanAlone].false_stops < 4 * most) problems.push_back("the mean alone stopped seldom");
  if (end > kTarget + 0.03 && tallies[kKnownLooks].stops < trials * 9 / 10)
    problems.push_back("the bound never passes");
  return problems;
}

int run(int trials, bool checks) {
  constexpr double kEnds[] = {kTarget - 0.005, kTarget + 0.005, kTarget + 0.04};
  fmt::print(
      "| end of the training, F1 over the target | items | stops by | trainings stopped | stopped below the target | "
      "sample over truth at the stop, F1 | truth over target at the stop, F1 | looks late |\n"
      "|---|---|---|---|---|---|---|---|\n");
  int exit_code = 0;
  for (const std::size_t items : {kSample, kAll}) {
    for (const double end : kEnds) {
      if (items == kAll && end > kTarget + 0.03) continue;
      const int count = items == kAll ? std::max(trials / 5, 1) : trials;
      const auto tallies = simulate(end, items, count);
      print(end, items, count, tallies);
      if (!checks || items == kAll) continue;
      for (const std::string& problem : problems_of(end, count, tallies)) {
        fmt::print(stderr, "stop_simulation: {}\n", problem);
        exit_code = 1;
      }
    }
    if (checks) break;
  }
  return exit_code;
}

}  // namespace
}  // namespace trainwarden

int main(int count, char** words) {
  int trials = 1000;
  bool checks = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--check") {
      checks = true;
    } else if (word == "--trials" && i + 1 < count) {
      const char* const text = words[++i];
      const auto [end, error] = std::from_chars(text, text + std::strlen(text), trials);
      if (error != std::errc() || *end != 0 || trials < 1) {
        fmt::print(stderr, "stop_simulation: --trials: expected a whole number of at least 1, found \"{}\"\n", text);
        return 2;
      }
    } else {
      fmt::print(stderr, "usage: stop_simulation [--trials N] [--check]\n");
      return 2;
    }
  }
  return trainwarden::run(trials, checks);
}
