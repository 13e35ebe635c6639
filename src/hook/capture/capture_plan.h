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
#include <utility>
#include <vector>

#include "core/base/regex.h"
#include "hook/capture/budget/restraint.h"
#include "trainwarden/collection.h"
#include "trainwarden/hook.h"
#include "trainwarden/mode.h"
#include "trainwarden/save_policy.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

// The collections of some tensors. Lives as long as its plan.
class Membership {
 public:
  // What is wanted of these tensors at the current step.
  // kBlackBoxBit may be there alone, or beside what the journal is to have.
  FormBits form_now() const { return form_now_.load(std::memory_order_relaxed); }
  bool has_scalars() const { return has_scalars_; }

 private:
  friend class CapturePlan;
  std::vector<std::uint32_t> collections_;  // indices into the plan's, rising
  std::vector<std::uint32_t> declared_;     // of them, those that the program gave it itself
  bool training_only_ = false;              // gradients and optimizer state are not kept in eval and predict
  bool has_scalars_ = false;
  bool in_use_ = true;  // not left behind by a change of the plan
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

  // Takes the collections of `wanted` in place of its own, from the next begin_step() on. Collections that the program
  // declared itself stay, saved or not as `declared_saved` says. Memberships stay valid, and as they are: ask
  // membership_after_change() for those that take their place.
  void change(const CapturePlan& wanted, bool declared_saved);
  const Membership& membership_after_change(const Membership& membership, std::string_view tensor);

  // What is needed besides, from the next begin_step() on and also after change(); restrained by the budget, or not.
  // Memberships: as of change(). Errors as of resolve(), and then nothing has changed.
  Status require(const std::vector<Collection>& needs, bool restrained);

  // `restraint`: what the budget leaves out; of save_steps it leaves out nothing.
  void begin_step(Mode mode, std::int64_t mode_step, const Restraint& restraint = {});
  // The current step and those behind it, so many in all, are computed by one call: what is wanted at any of them is
  // wanted until begin_step().
  void widen(std::int64_t steps);
  // Goes on to the next of these. What is wanted stays.
  void pass_step();
  // Goes on to the next step without working anything out, where nothing is wanted now nor then. False: begin_step().
  bool pass_idle_step();
  // What the current step asks for that may be left out. For the thread that drives training.
  const StepDemand& demand() const { return demand_; }
  // False when no tensor at all is wanted at the current step.
  bool anything_wanted() const { return anything_wanted_.load(std::memory_order_relaxed); }
  // True when losses are all that is wanted at the current step, and signals are wanted at others.
  bool only_losses_wanted() const { return only_losses_wanted_.load(std::memory_order_relaxed); }
  // Does the black box hold the current step?
  bool fills_black_box() const { return fills_black_box_.load(std::memory_order_relaxed); }
  // By the collection's own policy, by that of `all`, or because a tensor that is known to belong to it is wanted.
  bool wants_collection(std::string_view collection) const;
  // The first step of the current mode, from the current one on, at which these tensors are wanted.
  std::optional<std::int64_t> next_wanted_step(const Membership& membership) const;

  // The collections that the black box keeps, whatever the policies say; empty without one. What is left out stays out,
  // from the next begin_step() on.
  std::vector<std::string> black_box_collections() const;
  // Before the first step: of the steps the box holds as many as a budget leaves, and not each.
  void sample_black_box() { box_sampled_ = true; }
  bool is_in_black_box(std::string_view collection) const;
  void leave_out_of_black_box(std::string_view collection);

  // For the run's manifest. `save` and `keep` are there for those that are saved.
  std::vector<Collection> collections() const;

 private:
  // Somebody wants these tensors: the user, or a rule.
  struct Demand {
    SavePolicy save;  // complete: with a schedule for each mode
    FormBits form = 0;
    bool restrained = true;  // the budget may leave it out
  };
  struct Planned {
    Collection collection;
    RegexSet patterns;
    bool declared = false;  // by the program, with a tensor; not by the options
    bool in_black_box = false;
    bool always_whole = false;    // losses, scalars, signals: whatever KeepForm and the budget say
    bool has_signals = false;     // of these
    std::vector<Demand> demands;  // none: it is not saved; that of the user goes first
    FormBits form_now = 0;
  };

  explicit CapturePlan(const HookOptions& options);
  Status add(Collection collection, bool saved);
  Status add_need(const Collection& need, bool restrained = true);
  Status define(Collection collection);
  std::optional<std::uint32_t> index_of_collection(std::string_view collection) const;
  std::uint32_t find_or_add(std::string_view collection);
  using Indices = std::vector<std::uint32_t>;
  Indices found_by_name(std::string_view tensor) const;
  const Membership& intern(Indices collections, Indices declared);
  bool off_in_mode(const Membership& membership) const;
  Result<Demand> demand_of(const Collection& collection) const;
  Demand own_demand() const { return {save_, bits_of(keep_)}; }
  StepDemand demand_now() const;
  bool any_restrained_now() const;
  bool only_losses_now() const;
  std::int64_t idle_until() const;
  std::optional<std::int64_t> next_boxed_step() const;
  void work_out();
  bool wants_now(const SaveSchedule& schedule, std::int64_t factor) const;
  bool lists_now(const SaveSchedule& schedule) const;
  std::int64_t box_factor() const { return box_sampled_ ? restraint_.box_factor : 1; }
  std::int64_t interval_factor(const Planned& planned, const Demand& demand) const;
  FormBits wanted_now(const Planned& planned, const Demand& demand) const;
  FormBits wanted_now(const Planned& planned) const;
  FormBits wanted_now(const Membership& membership) const;

  mutable std::mutex mutex_;  // guards all below but the atomics
  SavePolicy save_;           // of the hook, complete
  KeepForm keep_;
  std::vector<std::string> black_box_;                             // names
  bool box_sampled_ = false;                                       // by the budget
  std::deque<Planned> planned_;                                    // grows only: indices stay
  std::map<std::pair<Indices, Indices>, Membership> memberships_;  // by collections and declared; nodes stay
  std::vector<Collection> required_;                               // by require()
  bool required_restrained_ = true;
  Mode mode_ = Mode::kGlobal;
  std::int64_t mode_step_ = 0;
  std::int64_t together_ = 1;  // steps from mode_step_ on that one call computes
  Restraint restraint_;
  bool losses_too_ = false;  // as the budget leaves this step to other collections
  StepDemand demand_;
  std::int64_t idle_until_ = 0;  // the mode step at which something is wanted next; only while nothing is
  std::atomic<bool> anything_wanted_ = false;
  std::atomic<bool> only_losses_wanted_ = false;
  std::atomic<bool> fills_black_box_ = false;
};

}  // namespace trainwarden::capture
