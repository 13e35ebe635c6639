#include <algorithm>
#include <cmath>
#include <cstring>

#include "data/tensor/histogram_counter.h"

namespace trainwarden {
namespace {

constexpr int kMantissaBits = 2;
constexpr std::size_t kExponentMask = 0xff;

std::size_t bin_of(const float* value) {
  std::uint32_t bits;
  std::memcpy(&bits, value, sizeof bits);
  return bits >> 21;
}

bool is_finite_bin(std::size_t bin) {
  return ((bin >> kMantissaBits) & kExponentMask) != kExponentMask;
}

// The smallest magnitude in a bin, which is the first past the bin before.
double edge(int magnitude_bin) {
  const int exponent = magnitude_bin >> kMantissaBits;
  const double quarters = magnitude_bin & 3;
  return exponent == 0 ? std::ldexp(quarters / 4, -126) : std::ldexp(1 + quarters / 4, exponent - 127);
}

double with_sign_of(int bin, double magnitude) {
  return bin < Histogram::kBinCount / 2 ? magnitude : -magnitude;
}

int magnitude_bin(int bin) {
  return bin % (Histogram::kBinCount / 2);
}

}  // namespace

double Histogram::lower_edge(int bin) {
  return with_sign_of(bin, edge(magnitude_bin(bin)));
}

double Histogram::upper_edge(int bin) {
  return with_sign_of(bin, edge(magnitude_bin(bin) + 1));
}

void Histogram::merge(const Histogram& other) {
  std::vector<Bin> merged;
  merged.reserve(bins.size() + other.bins.size());
  std::merge(bins.begin(), bins.end(), other.bins.begin(), other.bins.end(), std::back_inserter(merged),
             [](const Bin& a, const Bin& b) { return a.index < b.index; });
  bins.clear();
  for (const Bin& bin : merged) {
    if (!bins.empty() && bins.back().index == bin.index) {
      bins.back().count += bin.count;
    } else {
      bins.push_back(bin);
    }
  }
}

void HistogramCounter::add(const float* values, std::size_t count) {
  while (count > 0) {
    if (tallied_ == kTallyLimit) empty_tallies();
    const std::size_t piece = std::min(count, kTallyLimit - tallied_);
    std::size_t i = 0;
    for (; i + kTables <= piece; i += kTables) {
      for (std::size_t table = 0; table < kTables; ++table) ++tallies_[table][bin_of(values + i + table)];
    }
    for (; i < piece; ++i) ++tallies_[0][bin_of(values + i)];
    tallied_ += piece;
    values += piece;
    count -= piece;
  }
}

void HistogramCounter::empty_tallies() {
  for (auto& table : tallies_) {
    for (std::size_t bin = 0; bin < table.size(); ++bin) counts_[bin] += table[bin];
    table.fill(0);
  }
  tallied_ = 0;
}

Histogram HistogramCounter::histogram() {
  empty_tallies();
  Histogram histogram;
  for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
    if (counts_[bin] > 0 && is_finite_bin(bin)) {
      histogram.bins.push_back({static_cast<std::uint16_t>(bin), counts_[bin]});
    }
  }
  return histogram;
}

}  // namespace trainwarden
