// StandingCost: what is spent beside a training even while nothing of it is kept: the writer thread looks for requests,
// and who watches looks for steps.
#pragma once

#include <cstdint>
#include <optional>

namespace trainwarden::capture {

// Pure: it sees only its arguments. One thread at a time.
class StandingCost {
 public:
  // What follows from a step that was kept is over after this long: it is written, seen, judged and recorded.
  static constexpr std::int64_t kSettlingNs = 1'000'000'000;
  // So long nothing more is kept before the cost of that time says something.
  static constexpr std::int64_t kSampleNs = 500'000'000;

  // `guess`: the share of time to go by until there is a sample.
  explicit StandingCost(double guess) : share_(guess) {}

  // Something was kept at this time.
  void note_kept(std::int64_t now_ns);
  // `spent_ns`: beside the training in all, until now.
  void look(std::int64_t now_ns, std::int64_t spent_ns);

  // Of the time that goes by.
  double share() const { return share_; }

 private:
  struct Sample {
    std::int64_t began_ns;
    std::int64_t spent_ns;
  };
  double share_;
  bool known_ = false;
  std::int64_t quiet_from_ns_ = 0;
  std::optional<Sample> sample_;
};

}  // namespace trainwarden::capture
