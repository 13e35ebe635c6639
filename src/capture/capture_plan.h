// CapturePlan: which tensors are wanted at the current step, and in which form.
//
// A tensor belongs to collections; tensors that belong to the same ones share a Membership. When a step begins, the
// form wanted of each membership is worked out once, so that the question "is this tensor wanted?" is one atomic load.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/pattern.h"
#include "trainwarden/collection.h"
#include "trainwarden/hook.h"
#include "trainwarden/mode.h"
#include "trainwarden/save_policy.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

// A KeepForm as bits; 0 is "not wanted".
using FormBits = std::uint8_t;
inline constexpr FormBits kValuesBit = 1;
inline constexpr FormBits kStatisticsBit = 2;
inline constexpr FormBits kHistogramBit = 4;
inline constexpr FormBits kHashBit = 8;
inline constexpr FormBits kShapeBit = 16;
inline constexpr FormBits kAnyStatisticsBits = kStatisticsBit | kHistogramBit | kHashBit;
FormBits bits_of(const KeepForm& form);

// The collections of some tensors. Lives as long as its plan.
class Membership {
 public:
  // What is wanted of these tensors at the current step.
  FormBits form_now() const { return form_now_.load(std::memory_order_relaxed); }
  bool has_scalars() const { return has_scalars_; }

 private:
  friend class CapturePlan;
  std::vector<std::uint32_t> collections_;  // indices into the plan's, rising
  bool training_only_ = false;              // gradients and optimizer state are not kept in eval and predict
  bool has_scalars_ = false;
  std::atomic<FormBits> form_now_ = 0;
};

// Safe from many threads, but for begin_step, which belongs to the thread that drives training.
class CapturePlan {
 public:
  // kInvalidArgument: an unknown collection, one that can match nothing, one that is given twice, a pattern that does
  // not compile, a schedule or a form that makes no sense.
  static Result<std::unique_ptr<CapturePlan>> resolve(const HookOptions& options);

  // By names and patterns. Costs a search by every pattern: ask once for each name.
  const Membership& membership_of(std::string_view tensor);
  // Those collections and these, created with the hook's policy and saved when missing.
  const Membership& with_collections(const Membership& membership, std::span<const std::string_view> collections);
  std::vector<std::string> names_of(const Membership& membership) const;  // sorted

  void begin_step(Mode mode, std::int64_t mode_step);
  // False when no tensor at all is wanted at the current step.
  bool anything_wanted() const { return anything_wanted_.load(std::memory_order_relaxed); }
  // By the collection's own policy, by that of `all`, or because a tensor that is known to belong to it is wanted.
  bool wants_collection(std::string_view collection) const;

  // For the run's manifest. `save` and `keep` are there for those that are saved.
  std::vector<Collection> collections() const;

 private:
  struct Planned {
    Collection collection;
    PatternSet patterns;
    bool saved = false;
    SavePolicy save;  // complete: with a schedule for each mode
    FormBits form = 0;
    FormBits form_now = 0;
  };

  explicit CapturePlan(const HookOptions& options);
  Status add(Collection collection, bool saved);
  std::optional<std::uint32_t> index_of_collection(std::string_view collection) const;
  std::uint32_t find_or_add(std::string_view collection);
  const Membership& intern(std::vector<std::uint32_t> collections);
  FormBits wanted_now(const Planned& planned) const;
  FormBits wanted_now(const Membership& membership) const;

  const SavePolicy save_;  // of the hook, complete
  const KeepForm keep_;

  mutable std::mutex mutex_;  // guards all below but the atomics
  std::deque<Planned> planned_;
  std::map<std::vector<std::uint32_t>, Membership> memberships_;  // nodes stay where they are
  Mode mode_ = Mode::kGlobal;
  std::int64_t mode_step_ = 0;
  std::atomic<bool> anything_wanted_ = false;
};

}  // namespace trainwarden::capture
