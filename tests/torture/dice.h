// Dice: all that is random in a case follows from its seed, on every machine.
#pragma once

#include <cstdint>

namespace trainwarden::torture {

// splitmix64 (prng.di.unimi.it/splitmix64.c).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15ULL);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
  }
  std::uint64_t roll(std::uint64_t below) { return below == 0 ? 0 : next() % below; }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(roll(static_cast<std::uint64_t>(most - least) + 1));
  }
  bool one_in(std::uint64_t count) { return roll(count) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace trainwarden::torture
