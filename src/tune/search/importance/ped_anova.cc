#include "tune/search/importance/ped_anova.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tune/search/importance/importance_streams.h"
#include "tune/search/random.h"

namespace trainwarden::tune {
namespace {

constexpr std::size_t kBlindDraws = 40, kTrialRedraws = 64;
constexpr double kBlindQuantile = 0.95;
// Of a kernel's deviation in cells: this part of all, times count of the best^(-1/5) (Scott 1992), half a cell at
// least.
constexpr double kBandwidth = 0.2, kMinBandwidth = 0.5;

using Weights = std::vector<double>;  // of each trial

// Row by row the kernel over cells of a trial in this cell, each of sum 1; of unordered choices the cell alone.
std::vector<double> kernels_of(const ParameterCells& cells, double top) {
  const std::size_t count = cells.count();
  std::vector<double> kernels(count * count, 0);
  const double bandwidth = std::max(kMinBandwidth, kBandwidth * static_cast<double>(count) * std::pow(top, -0.2));
  for (std::size_t i = 0; i < count; ++i) {
    double* row = kernels.data() + i * count;
    if (!cells.is_ordered()) {
      row[i] = 1;
      continue;
    }
    for (std::size_t k = 0; k < count; ++k) {
      const double z = (static_cast<double>(i) - static_cast<double>(k)) / bandwidth;
      row[k] = std::exp(-0.5 * z * z);
    }
    const double sum = std::accumulate(row, row + count, 0.0);
    std::for_each(row, row + count, [&](double& each) { each /= sum; });
  }
  return kernels;
}

struct CellDensity {
  std::vector<double> of_cell;  // sum 1; 0 where the parameter is active in none of the trials
  double active = 0;            // the part of the trials' weight in which it is
};

CellDensity density_of(const ParameterCells& cells, const std::vector<double>& kernels, const Weights& weights) {
  const std::size_t count = cells.count();
  std::vector<double> raw(count, 0);
  double all = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    all += weights[i];
    if (cells.cells()[i] != kNoCell) raw[cells.cells()[i]] += weights[i];
  }
  CellDensity density{std::vector<double>(count, 0), 0};
  const double active = std::accumulate(raw.begin(), raw.end(), 0.0);
  if (active <= 0) return density;
  density.active = active / all;
  for (std::size_t i = 0; i < count; ++i) {
    if (raw[i] <= 0) continue;
    for (std::size_t k = 0; k < count; ++k) density.of_cell[k] += raw[i] / active * kernels[i * count + k];
  }
  return density;
}

double pearson_divergence(const CellDensity& best, const CellDensity& all) {
  double sum = 0;
  for (std::size_t k = 0; k < all.of_cell.size(); ++k) {
    if (all.of_cell[k] <= 0) continue;
    const double gap = best.of_cell[k] - all.of_cell[k];
    sum += gap * gap / all.of_cell[k];
  }
  return best.active * best.active * sum;
}

// Divergences of the best among some trials from these.
class BestAgainstAll {
 public:
  BestAgainstAll(const ImportanceSample& sample, std::size_t top) : sample_(&sample), top_(static_cast<double>(top)) {
    order_.resize(sample.trials());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return sample.costs[a] < sample.costs[b]; });
    for (const ParameterCells& cells : sample.parameters) kernels_.push_back(kernels_of(cells, top_));
  }

  // `weights`: how often each trial is there.
  std::vector<double> divergences(const Weights& weights) const { return compare(best_of_weights(weights), weights); }

  // The same, where the best are drawn blindly.
  std::vector<double> blind_divergences(Random& random) const {
    std::vector<std::size_t> drawn = order_;
    Weights best(drawn.size(), 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(top_); ++i) {
      std::swap(drawn[i], drawn[i + random.below(drawn.size() - i)]);
      best[drawn[i]] = 1;
    }
    return compare(best, Weights(drawn.size(), 1));
  }

 private:
  // Equal costs at the border share what is left.
  Weights best_of_weights(const Weights& weights) const {
    Weights best(weights.size(), 0);
    double left = top_;
    for (std::size_t first = 0, end = 0; first < order_.size() && left > 0; first = end) {
      double group = 0;
      for (; end < order_.size() && sample_->costs[order_[end]] == sample_->costs[order_[first]]; ++end) {
        group += weights[order_[end]];
      }
      const double part = group > left ? left / group : 1;
      for (std::size_t i = first; i < end; ++i) best[order_[i]] = part * weights[order_[i]];
      left -= part * group;
    }
    return best;
  }

  std::vector<double> compare(const Weights& best, const Weights& all) const {
    std::vector<double> divergences;
    for (std::size_t i = 0; i < sample_->parameters.size(); ++i) {
      const ParameterCells& cells = sample_->parameters[i];
      divergences.push_back(
          pearson_divergence(density_of(cells, kernels_[i], best), density_of(cells, kernels_[i], all)));
    }
    return divergences;
  }

  const ImportanceSample* sample_;
  double top_;
  std::vector<std::size_t> order_;  // trials by their costs
  std::vector<std::vector<double>> kernels_;
};

// What chance shows.
struct BlindDivergence {
  std::vector<double> means;  // of each parameter
  double high = 0;            // of their sum, the quantile kBlindQuantile
};

BlindDivergence blind_divergence(const BestAgainstAll& compared, std::size_t parameters, Random& random) {
  BlindDivergence blind{std::vector<double>(parameters, 0), 0};
  std::vector<double> sums;
  for (std::size_t draw = 0; draw < kBlindDraws; ++draw) {
    const std::vector<double> divergences = compared.blind_divergences(random);
    for (std::size_t i = 0; i < parameters; ++i) blind.means[i] += divergences[i] / kBlindDraws;
    sums.push_back(std::accumulate(divergences.begin(), divergences.end(), 0.0));
  }
  std::sort(sums.begin(), sums.end());
  blind.high = sums[static_cast<std::size_t>(kBlindQuantile * (kBlindDraws - 1))];
  return blind;
}

// What is more than chance, as shares of one.
std::vector<double> shares_beyond(const std::vector<double>& divergences, const std::vector<double>& chance,
                                  double times) {
  std::vector<double> beyond(divergences.size());
  double sum = 0;
  for (std::size_t i = 0; i < beyond.size(); ++i) {
    beyond[i] = std::max(0.0, divergences[i] - times * chance[i]);
    sum += beyond[i];
  }
  for (double& each : beyond) each = sum > 0 ? each / sum : 0;
  return beyond;
}

Weights drawn_anew(std::size_t trials, Random& random) {
  Weights weights(trials, 0);
  for (std::size_t i = 0; i < trials; ++i) weights[random.below(trials)] += 1;
  return weights;
}

}  // namespace

PedAnova ped_anova(const ImportanceSample& sample, std::uint64_t seed) {
  const std::size_t trials = sample.trials(), parameters = sample.parameters.size();
  if (trials < 2 || parameters == 0) return {};
  const auto tenth = static_cast<std::size_t>(std::ceil(kTopShare * static_cast<double>(trials)));
  const std::size_t top = std::max(tenth, std::min(kMinTopTrials, trials / 2));
  Random random(seed, kPedStream);
  const BestAgainstAll compared(sample, top);
  const BlindDivergence blind = blind_divergence(compared, parameters, random);
  const std::vector<double> found = compared.divergences(Weights(trials, 1));
  const std::vector<double> shares = shares_beyond(found, blind.means, 1);
  std::vector<std::vector<double>> redrawn(parameters);
  for (std::size_t draw = 0; draw < kTrialRedraws; ++draw) {
    // Trials drawn from trials have what chance adds twice: once in these trials, once in the draw.
    const std::vector<double> anew = shares_beyond(compared.divergences(drawn_anew(trials, random)), blind.means, 2);
    for (std::size_t i = 0; i < parameters; ++i) redrawn[i].push_back(anew[i]);
  }
  PedAnova result;
  result.beats_chance = std::accumulate(found.begin(), found.end(), 0.0) > blind.high;
  for (std::size_t i = 0; i < parameters; ++i) result.single.push_back(share_of(shares[i], std::move(redrawn[i])));
  return result;
}

}  // namespace trainwarden::tune
