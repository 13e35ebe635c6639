// Probe: one source of metrics, read at ticks.
#pragma once

namespace trainwarden::machine {

class Reading;

// One thread at a time, and one and the same Reading for all of a probe's life: it keeps the numbers of its metrics.
class Probe {
 public:
  virtual ~Probe() = default;
  // Sets what there is at this moment. What cannot be read is left out; no throw.
  virtual void read(Reading& reading) = 0;
  // At each n-th tick of its sampler, but for the first ones, which read all.
  virtual int every() const { return 1; }
  // Of what changes slowly, or is counted by the kernel and so loses nothing between two looks.
  static constexpr int kSeldom = 5;
  // Of the same, where a look is dear or little happens.
  static constexpr int kRarely = 10;
};

}  // namespace trainwarden::machine
