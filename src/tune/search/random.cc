#include "tune/search/random.h"

#include <bit>

#include "tune/search/normal.h"

namespace trainwarden::tune {
namespace {

std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t state = seed;
  state = splitmix64(state) ^ (stream * 0xd1342543de82ef95 + 1);
  for (std::uint64_t& each : state_) each = splitmix64(state);
}

std::uint64_t Random::bits() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() {
  return static_cast<double>(bits() >> 11) * 0x1p-53;
}
double Random::uniform(double low, double high) {
  return low + uniform() * (high - low);
}

double Random::normal() {
  return normal_quantile((static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53);
}

std::uint64_t Random::below(std::uint64_t end) {
  if (end == 0) return 0;
  const std::uint64_t unfair = (0 - end) % end;  // so many of the 2^64 values are one too many
  std::uint64_t value = bits();
  while (value < unfair) value = bits();
  return value % end;
}

std::size_t Random::weighted(std::span<const double> weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  double left = uniform() * sum;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = i;
    if (left < weights[i]) return i;
    left -= weights[i];
  }
  return last;  // rounding
}

}  // namespace trainwarden::tune
