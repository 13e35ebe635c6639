// CaseLog: what a case did and suffered, in order, for who reads of a violation; and how often which fault came.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace trainwarden::torture {

enum class FaultSort : std::uint8_t {
  kKill,
  kTornWrite,
  kShortWrite,
  kFullDisk,
  kWriteError,
  kSyncError,
  kReadError,
  kPowerLoss,
  kLostBytes,
  kLostName,
  kLag,
  kStaleHandle,
  kHttpError,
  kLostAnswer,
  kCutAnswer,
  kRepeated,
  kStaleListing,
  kExpired,
  kClockJump,
  kStopped,
  kListedTwice,
  kCount,
};
std::string_view name(FaultSort sort);

using FaultCounts = std::array<std::uint64_t, static_cast<std::size_t>(FaultSort::kCount)>;

class CaseLog {
 public:
  explicit CaseLog(bool keeps_story) : keeps_story_(keeps_story) {}

  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    if (keeps_story_) story_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void fault(FaultSort sort, fmt::format_string<Args...> format, Args&&... args) {
    ++counts_[static_cast<std::size_t>(sort)];
    if (keeps_story_) {
      story_.push_back(fmt::format("  ! {}: {}", name(sort), fmt::format(format, std::forward<Args>(args)...)));
    }
  }
  // A promise that was broken.
  void violate(std::string what) {
    note("VIOLATION: {}", what);
    violations_.push_back(std::move(what));
  }
  void count_losses(std::uint64_t losses) { losses_ += losses; }

  std::uint64_t count(FaultSort sort) const { return counts_[static_cast<std::size_t>(sort)]; }
  const FaultCounts& counts() const { return counts_; }
  std::uint64_t losses() const { return losses_; }
  const std::vector<std::string>& violations() const { return violations_; }
  const std::vector<std::string>& story() const { return story_; }

 private:
  const bool keeps_story_;
  FaultCounts counts_{};
  std::uint64_t losses_ = 0;
  std::vector<std::string> violations_;
  std::vector<std::string> story_;
};

}  // namespace trainwarden::torture
