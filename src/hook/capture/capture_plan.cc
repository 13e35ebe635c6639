#include "hook/capture/capture_plan.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::capture {
namespace {

constexpr std::int64_t kMostTogether = std::int64_t{1} << 40;  // steps of one call

constexpr std::string_view kLosses = "losses";
constexpr std::string_view kScalars = "scalars";
constexpr std::string_view kSignals = "signals";
constexpr std::string_view kDefault = "default";
constexpr std::string_view kAll = "all";
constexpr std::string_view kGradients = "gradients";
constexpr std::string_view kOptimizerState = "optimizer_state";

// A collection on its way into the plan.
struct Candidate {
  Collection collection;
  bool builtin = false;
  bool saved = false;
};

Candidate* find_candidate(std::vector<Candidate>& candidates, std::string_view wanted) {
  const auto found = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate& candidate) { return candidate.collection.name == wanted; });
  return found == candidates.end() ? nullptr : &*found;
}

Status bad_collection(const Collection& collection, std::string_view problem) {
  return Status(Code::kInvalidArgument, fmt::format("collection \"{}\" {}", printable(collection.name), problem));
}

// The user's collection beside the built-in ones, or in place of the one of the same name. Given by name alone it keeps
// the built-in members, so that {"name": "gradients", "save": ...} means what it seems to mean.
Status take(const Collection& collection, std::vector<Candidate>& candidates) {
  if (collection.name.empty()) return Status(Code::kInvalidArgument, "a collection has no name");
  Candidate* there = find_candidate(candidates, collection.name);
  if (there == nullptr) {
    candidates.push_back({.collection = collection, .saved = true});
    return Status();
  }
  if (there->saved) return bad_collection(collection, "is given twice; merge the two");
  if (!collection.include.empty() || !collection.tensor_names.empty()) {
    there->collection.include = collection.include;
    there->collection.tensor_names = collection.tensor_names;
  }
  there->collection.save = collection.save;
  there->collection.keep = collection.keep;
  there->saved = true;
  return Status();
}

Status check_known(const std::string& wanted, std::vector<Candidate>& candidates) {
  if (find_candidate(candidates, wanted) != nullptr) return Status();
  std::vector<std::string> known;
  for (const Candidate& other : candidates) known.push_back(other.collection.name);
  return Status(Code::kInvalidArgument,
                fmt::format("names collection \"{}\", which is neither built in nor defined{}; there are: {}",
                            printable(wanted), did_you_mean(wanted, known), fmt::join(known, ", ")));
}

Status include_by_name(const std::string& wanted, std::vector<Candidate>& candidates) {
  TRAINWARDEN_RETURN_IF_ERROR(check_known(wanted, candidates).with_context("include_collections"));
  find_candidate(candidates, wanted)->saved = true;
  return Status();
}

void include_pattern(std::string_view wanted, std::string_view pattern, std::vector<Candidate>& candidates) {
  if (find_candidate(candidates, wanted) == nullptr) {
    candidates.push_back({.collection = {.name = std::string(wanted)}, .builtin = true});
  }
  Candidate& candidate = *find_candidate(candidates, wanted);
  candidate.saved = true;
  std::vector<std::string>& include = candidate.collection.include;
  if (std::find(include.begin(), include.end(), pattern) == include.end()) include.emplace_back(pattern);
}

Result<std::vector<Candidate>> candidates_of(const HookOptions& options) {
  std::vector<Candidate> candidates;
  for (const Collection& collection : builtin_collections()) {
    candidates.push_back({.collection = collection, .builtin = true});
  }
  for (const Collection& collection : options.collections) TRAINWARDEN_RETURN_IF_ERROR(take(collection, candidates));
  for (const std::string& wanted : options.include_collections) {
    TRAINWARDEN_RETURN_IF_ERROR(include_by_name(wanted, candidates));
  }
  for (const std::string& pattern : options.include) include_pattern(kDefault, pattern, candidates);
  if (options.save_all) include_pattern(kAll, ".*", candidates);

  const Candidate* all = find_candidate(candidates, kAll);
  const bool every_one = all != nullptr && all->saved;
  for (Candidate& candidate : candidates) {
    const Collection& collection = candidate.collection;
    if (every_one || collection.name == kLosses || collection.name == kScalars) candidate.saved = true;
    const bool can_match = candidate.builtin || !collection.include.empty() || !collection.tensor_names.empty();
    if (!can_match) return bad_collection(collection, "can match nothing; give it include or tensor_names");
  }
  return candidates;
}

Status check_policy(const SavePolicy& policy) {
  for (const Mode mode : kAllModes) {
    const auto& schedule = policy[mode];
    if (!schedule) continue;
    if (schedule->save_interval < 1) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: save_interval must be at least 1, not {}", name(mode), schedule->save_interval));
    }
    if (schedule->start_step < 0) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: start_step must be at least 0, not {}", name(mode), schedule->start_step));
    }
  }
  return Status();
}

// Sorted, each once.
std::vector<std::uint32_t> union_of(std::vector<std::uint32_t> a, const std::vector<std::uint32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end());
  a.erase(std::unique(a.begin(), a.end()), a.end());
  return a;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool always_values(std::string_view collection) {
  return collection == kLosses || collection == kScalars || collection == kSignals;
}

}  // namespace

CapturePlan::CapturePlan(const HookOptions& options)
    : save_(options.save.filled_from(SavePolicy::of(SaveSchedule()))), keep_(options.keep) {}

Result<std::unique_ptr<CapturePlan>> CapturePlan::resolve(const HookOptions& options) {
  TRAINWARDEN_RETURN_IF_ERROR(check_policy(options.save).with_context("save"));
  if (bits_of(options.keep) == 0) return Status(Code::kInvalidArgument, "keep: nothing is kept; choose a form");
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<Candidate> candidates, candidates_of(options));
  std::unique_ptr<CapturePlan> plan(new CapturePlan(options));
  if (options.black_box.steps > 0) {
    for (const std::string& wanted : options.black_box.collections) {
      TRAINWARDEN_RETURN_IF_ERROR(check_known(wanted, candidates).with_context("black_box"));
    }
    plan->black_box_ = options.black_box.collections;
  }
  for (Candidate& candidate : candidates) {
    const std::string context = fmt::format("collection \"{}\"", printable(candidate.collection.name));
    const Status status = plan->add(std::move(candidate.collection), candidate.saved);
    if (!status.ok()) return status.with_context(context);
  }
  for (const Collection& need : options.needs) {
    const Status status = plan->add_need(need);
    if (!status.ok()) return status.with_context(fmt::format("need of collection \"{}\"", printable(need.name)));
  }
  plan->begin_step(Mode::kGlobal, 0);
  return plan;
}

Status CapturePlan::add(Collection collection, bool saved) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Demand demand, demand_of(collection));
  TRAINWARDEN_RETURN_IF_ERROR(define(std::move(collection)));
  if (saved) planned_.back().demands.push_back(std::move(demand));
  return Status();
}

Status CapturePlan::require(const std::vector<Collection>& needs, bool restrained) {
  std::lock_guard lock(mutex_);
  for (const Collection& need : needs) {
    TRAINWARDEN_RETURN_IF_ERROR(demand_of(need).status());
    TRAINWARDEN_RETURN_IF_ERROR(RegexSet::compile(need.include).status());
  }
  idle_until_ = 0;  // worked out again with the next step
  required_ = needs;
  required_restrained_ = restrained;
  for (const Collection& need : needs) TRAINWARDEN_RETURN_IF_ERROR(add_need(need, restrained));
  for (auto& [collections, membership] : memberships_) membership.in_use_ = false;
  return Status();
}

Status CapturePlan::add_need(const Collection& need, bool restrained) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Demand demand, demand_of(need));
  demand.restrained = restrained;
  auto index = index_of_collection(need.name);
  if (!index) {
    TRAINWARDEN_RETURN_IF_ERROR(
        define({.name = need.name, .include = need.include, .tensor_names = need.tensor_names}));
    index = static_cast<std::uint32_t>(planned_.size() - 1);
  }
  planned_[*index].demands.push_back(std::move(demand));
  return Status();
}

Status CapturePlan::define(Collection collection) {
  Planned planned;
  TRAINWARDEN_ASSIGN_OR_RETURN(planned.patterns, RegexSet::compile(collection.include));
  planned.always_whole = always_values(collection.name);
  planned.has_signals = collection.name == kSignals;
  planned.in_black_box = contains(black_box_, collection.name);
  planned.collection = std::move(collection);
  planned_.push_back(std::move(planned));
  return Status();
}

Result<CapturePlan::Demand> CapturePlan::demand_of(const Collection& collection) const {
  if (collection.save) TRAINWARDEN_RETURN_IF_ERROR(check_policy(*collection.save));
  Demand demand{collection.save ? collection.save->filled_from(save_) : save_,
                always_values(collection.name) ? kValuesBit : bits_of(collection.keep.value_or(keep_))};
  if (demand.form == 0) return Status(Code::kInvalidArgument, "nothing is kept; choose a form in keep");
  return demand;
}

const Membership& CapturePlan::membership_of(std::string_view tensor) {
  std::lock_guard lock(mutex_);
  return intern(found_by_name(tensor), {});
}

const Membership& CapturePlan::with_collections(const Membership& membership,
                                                std::span<const std::string_view> collections) {
  std::lock_guard lock(mutex_);
  Indices declared = membership.declared_;
  for (const std::string_view collection : collections) declared.push_back(find_or_add(collection));
  return intern(union_of(membership.collections_, declared), union_of(declared, {}));
}

const Membership& CapturePlan::membership_after_change(const Membership& membership, std::string_view tensor) {
  std::lock_guard lock(mutex_);
  return intern(union_of(found_by_name(tensor), membership.declared_), membership.declared_);
}

CapturePlan::Indices CapturePlan::found_by_name(std::string_view tensor) const {
  Indices collections;
  for (std::uint32_t i = 0; i < planned_.size(); ++i) {
    const std::vector<std::string>& names = planned_[i].collection.tensor_names;
    if (std::find(names.begin(), names.end(), tensor) != names.end() || planned_[i].patterns.found_in(tensor)) {
      collections.push_back(i);
    }
  }
  return collections;
}

void CapturePlan::change(const CapturePlan& wanted, bool declared_saved) {
  std::scoped_lock lock(mutex_, wanted.mutex_);
  idle_until_ = 0;  // worked out again with the next step
  save_ = wanted.save_;
  keep_ = wanted.keep_;
  for (Planned& planned : planned_) {
    planned.collection.include.clear();
    planned.collection.tensor_names.clear();
    planned.patterns = RegexSet();
    planned.demands.clear();
    if (planned.declared && declared_saved) planned.demands.push_back(own_demand());
  }
  for (const Planned& planned : wanted.planned_) {
    const auto index = index_of_collection(planned.collection.name);
    if (!index) {
      planned_.push_back(planned);
      continue;
    }
    const bool declared = planned_[*index].declared;
    const bool in_black_box = planned_[*index].in_black_box;
    planned_[*index] = planned;
    planned_[*index].declared = declared;
    planned_[*index].in_black_box = in_black_box;
  }
  for (const Collection& need : required_) (void)add_need(need, required_restrained_);  // it has been checked
  for (auto& [collections, membership] : memberships_) membership.in_use_ = false;
}

std::vector<std::string> CapturePlan::names_of(const Membership& membership) const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const std::uint32_t index : membership.collections_) names.push_back(planned_[index].collection.name);
  std::sort(names.begin(), names.end());
  return names;
}

void CapturePlan::begin_step(Mode mode, std::int64_t mode_step, const Restraint& restraint) {
  std::lock_guard lock(mutex_);
  const bool still_idle = mode == mode_ && mode_step > mode_step_ && mode_step < idle_until_ && restraint == restraint_;
  mode_ = mode;
  mode_step_ = mode_step;
  restraint_ = restraint;
  together_ = 1;
  if (!still_idle) work_out();
}

void CapturePlan::widen(std::int64_t steps) {
  std::lock_guard lock(mutex_);
  together_ = std::clamp(steps, std::int64_t{1}, kMostTogether);
  work_out();
}

void CapturePlan::pass_step() {
  std::lock_guard lock(mutex_);
  ++mode_step_;
}

void CapturePlan::work_out() {
  losses_too_ = any_restrained_now();
  bool anything = false;
  bool boxed = false;
  for (Planned& planned : planned_) {
    planned.form_now = wanted_now(planned);
    anything = anything || planned.form_now != 0;
    boxed = boxed || (planned.form_now & kBlackBoxBit) != 0;
  }
  for (auto& [collections, membership] : memberships_) {
    membership.form_now_.store(wanted_now(membership), std::memory_order_relaxed);
  }
  anything_wanted_.store(anything, std::memory_order_relaxed);
  only_losses_wanted_.store(anything && only_losses_now(), std::memory_order_relaxed);
  fills_black_box_.store(boxed, std::memory_order_relaxed);
  idle_until_ = anything ? mode_step_ : idle_until();
  demand_ = demand_now();
  demand_.boxed = boxed && box_sampled_;
}

// Is this a step for what the budget makes rarer than losses? It is then kept with its losses.
bool CapturePlan::any_restrained_now() const {
  return std::any_of(planned_.begin(), planned_.end(), [&](const Planned& planned) {
    return !planned.always_whole && std::any_of(planned.demands.begin(), planned.demands.end(),
                                                [&](const Demand& demand) { return wanted_now(planned, demand) != 0; });
  });
}

bool CapturePlan::only_losses_now() const {
  bool keeps_signals = false;
  for (const Planned& planned : planned_) {
    const bool is_loss = planned.always_whole && !planned.has_signals;
    if (!is_loss && planned.form_now != 0) return false;
    keeps_signals = keeps_signals || (planned.has_signals && !planned.demands.empty());
  }
  return keeps_signals;
}

bool CapturePlan::pass_idle_step() {
  std::lock_guard lock(mutex_);
  if (mode_step_ >= idle_until_ - 1) return false;
  ++mode_step_;
  return true;
}

// The step after this one at which anything is wanted, in this mode.
std::int64_t CapturePlan::idle_until() const {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  if (mode_step_ > kEnd / 2) return mode_step_;  // nobody trains until there
  std::int64_t until = kEnd;
  for (const Planned& planned : planned_) {
    if (planned.in_black_box) until = std::min(until, (mode_step_ / box_factor() + 1) * box_factor());
    for (const Demand& demand : planned.demands) {
      const auto step = demand.save[mode_]->next_wanted(mode_step_ + 1, interval_factor(planned, demand));
      if (step) until = std::min(until, *step);
    }
  }
  return until;
}

// The first step from this one on that the black box holds; none where numbers of steps end.
std::optional<std::int64_t> CapturePlan::next_boxed_step() const {
  const std::int64_t past = mode_step_ % box_factor();
  if (past == 0) return mode_step_;
  const std::int64_t ahead = box_factor() - past;
  if (mode_step_ > std::numeric_limits<std::int64_t>::max() - ahead) return std::nullopt;
  return mode_step_ + ahead;
}

StepDemand CapturePlan::demand_now() const {
  StepDemand demand;
  demand.save_interval = std::numeric_limits<std::int64_t>::max();
  for (const Planned& planned : planned_) {
    for (const Demand& of_one : planned.demands) {
      const SaveSchedule& schedule = *of_one.save[mode_];
      if (schedule.end_step == 0 || !of_one.restrained) continue;
      const bool listed = lists_now(schedule);
      const bool wanted = wanted_now(planned, of_one) != 0 && !listed;
      if (planned.always_whole) {
        (planned.has_signals ? demand.signals : demand.losses) |= wanted;
        continue;
      }
      demand.listed |= listed;
      demand.wanted |= wanted;
      demand.save_interval = std::min(demand.save_interval, schedule.save_interval);
      demand.forms |= of_one.form;
    }
  }
  return demand;
}

bool CapturePlan::wants_collection(std::string_view collection) const {
  std::lock_guard lock(mutex_);
  const auto index = index_of_collection(collection);
  if (!index) return false;
  const bool training = mode_ == Mode::kTrain || mode_ == Mode::kGlobal;
  if (!training && (collection == kGradients || collection == kOptimizerState)) return false;
  const auto all = index_of_collection(kAll);
  if (planned_[*index].form_now != 0 || (all && planned_[*all].form_now != 0)) return true;
  return std::any_of(memberships_.begin(), memberships_.end(), [&](const auto& entry) {
    const Membership& membership = entry.second;
    const auto& collections = membership.collections_;
    return membership.in_use_ && membership.form_now() != 0 &&
           std::binary_search(collections.begin(), collections.end(), *index);
  });
}

std::optional<std::int64_t> CapturePlan::next_wanted_step(const Membership& membership) const {
  std::lock_guard lock(mutex_);
  std::optional<std::int64_t> next;
  if (off_in_mode(membership)) return next;
  for (const std::uint32_t index : membership.collections_) {
    const Planned& planned = planned_[index];
    if (planned.in_black_box) {
      const auto boxed = next_boxed_step();
      if (boxed && (!next || *boxed < *next)) next = boxed;
    }
    for (const Demand& demand : planned.demands) {
      const auto step = demand.save[mode_]->next_wanted(mode_step_, interval_factor(planned, demand));
      if (step && (!next || *step < *next)) next = step;
    }
  }
  return next;
}

std::vector<std::string> CapturePlan::black_box_collections() const {
  std::lock_guard lock(mutex_);
  return black_box_;
}

bool CapturePlan::is_in_black_box(std::string_view collection) const {
  std::lock_guard lock(mutex_);
  return contains(black_box_, collection);
}

void CapturePlan::leave_out_of_black_box(std::string_view collection) {
  std::lock_guard lock(mutex_);
  const auto index = index_of_collection(collection);
  if (index) planned_[*index].in_black_box = false;
}

std::vector<Collection> CapturePlan::collections() const {
  std::lock_guard lock(mutex_);
  std::vector<Collection> collections;
  for (const Planned& planned : planned_) {
    Collection& collection = collections.emplace_back(planned.collection);
    if (planned.demands.empty()) continue;
    collection.save = planned.demands.front().save;
    if (!collection.keep) collection.keep = form_of(planned.demands.front().form);
    if (planned.always_whole) collection.keep = KeepForm::whole();
  }
  return collections;
}

std::optional<std::uint32_t> CapturePlan::index_of_collection(std::string_view collection) const {
  for (std::uint32_t i = 0; i < planned_.size(); ++i) {
    if (planned_[i].collection.name == collection) return i;
  }
  return std::nullopt;
}

std::uint32_t CapturePlan::find_or_add(std::string_view collection) {
  if (const auto index = index_of_collection(collection)) return *index;
  Planned planned;
  planned.collection.name = collection;
  planned.declared = true;
  planned.demands.push_back(own_demand());
  planned.form_now = wanted_now(planned);
  idle_until_ = 0;  // worked out again with the next step
  if (planned.form_now != 0) {
    anything_wanted_.store(true, std::memory_order_relaxed);
    only_losses_wanted_.store(false, std::memory_order_relaxed);
  }
  planned_.push_back(std::move(planned));
  return static_cast<std::uint32_t>(planned_.size() - 1);
}

const Membership& CapturePlan::intern(Indices collections, Indices declared) {
  const auto [entry, added] = memberships_.try_emplace({std::move(collections), std::move(declared)});
  Membership& membership = entry->second;
  membership.in_use_ = true;
  if (!added) return membership;
  membership.collections_ = entry->first.first;
  membership.declared_ = entry->first.second;
  for (const std::uint32_t index : membership.collections_) {
    const std::string& collection = planned_[index].collection.name;
    membership.training_only_ |= collection == kGradients || collection == kOptimizerState;
    membership.has_scalars_ |= collection == kScalars;
  }
  membership.form_now_.store(wanted_now(membership), std::memory_order_relaxed);
  return membership;
}

FormBits CapturePlan::wanted_now(const Planned& planned) const {
  const auto boxed = planned.in_black_box ? next_boxed_step() : std::nullopt;
  unsigned form = boxed && *boxed - mode_step_ < together_ ? kBlackBoxBit : 0u;
  for (const Demand& demand : planned.demands) form |= wanted_now(planned, demand);
  return static_cast<FormBits>(form);
}

FormBits CapturePlan::wanted_now(const Planned& planned, const Demand& demand) const {
  const SaveSchedule& schedule = *demand.save[mode_];
  const std::int64_t factor = planned.always_whole && losses_too_ ? 1 : interval_factor(planned, demand);
  if (!wants_now(schedule, factor)) return 0;
  const bool unrestrained = planned.always_whole || !demand.restrained || lists_now(schedule);
  return unrestrained ? demand.form : restraint_.apply(demand.form);
}

bool CapturePlan::wants_now(const SaveSchedule& schedule, std::int64_t factor) const {
  if (together_ == 1) return schedule.wants(mode_step_, factor);
  const auto next = schedule.next_wanted(mode_step_, factor);
  return next && *next - mode_step_ < together_;
}

bool CapturePlan::lists_now(const SaveSchedule& schedule) const {
  return std::any_of(schedule.save_steps.begin(), schedule.save_steps.end(),
                     [&](std::int64_t listed) { return listed >= mode_step_ && listed - mode_step_ < together_; });
}

std::int64_t CapturePlan::interval_factor(const Planned& planned, const Demand& demand) const {
  if (!demand.restrained) return 1;
  if (!planned.always_whole) return restraint_.interval_factor;
  return planned.has_signals ? restraint_.signals_factor : restraint_.losses_factor;
}

bool CapturePlan::off_in_mode(const Membership& membership) const {
  return membership.training_only_ && mode_ != Mode::kTrain && mode_ != Mode::kGlobal;
}

FormBits CapturePlan::wanted_now(const Membership& membership) const {
  if (off_in_mode(membership)) return 0;
  unsigned form = 0;
  for (const std::uint32_t index : membership.collections_) form |= planned_[index].form_now;
  return static_cast<FormBits>(form);
}

}  // namespace trainwarden::capture
