#include "hook/capture/black_box/black_box.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "data/format/capture_events.h"
#include "data/format/json.h"
#include "data/format/name_escape.h"
#include "data/format/names_record.h"

namespace trainwarden::capture {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
constexpr std::size_t kLeastSlotBytes = 4096;
constexpr std::uint64_t kStepsBetweenLooks = 16;
constexpr std::int64_t kGraceNs = format::kStartAllowanceNs;  // a program of a few seconds is kept whole

// What a failure cannot be understood without: never given up.
constexpr std::string_view kEssential[] = {"losses", "scalars", "signals", "batch_inputs", "labels", "predictions"};
// Given up last, in this order; all other collections go before them.
constexpr std::string_view kDear[] = {"biases", "buffers", "weights", "optimizer_state", "gradients"};

// In the order in which they are given up.
std::vector<std::string> ranks_of(const std::vector<std::string>& collections) {
  std::vector<std::string> ranks;
  const auto is_in = [](const auto& names, const std::string& name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  for (const std::string& name : collections) {
    if (!is_in(kEssential, name) && !is_in(kDear, name)) ranks.push_back(name);
  }
  for (const std::string_view name : kDear) {
    if (is_in(collections, std::string(name))) ranks.emplace_back(name);
  }
  return ranks;
}

std::size_t slot_bytes(const BlackBoxOptions& options) {
  return options.bytes / (static_cast<std::size_t>(options.steps) + 1) / kPageBytes * kPageBytes;
}

Status check(const BlackBoxOptions& options) {
  if (options.steps < 1 || options.steps > kMaxBoxSteps) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("black_box: steps must be from 1 to {}, not {}; 0 switches it off", kMaxBoxSteps, options.steps));
  }
  if (slot_bytes(options) < kLeastSlotBytes) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("black_box: {} for {} steps is too little; give it at least {}", format_bytes(options.bytes),
                    options.steps, format_bytes(kLeastSlotBytes * (std::size_t(options.steps) + 1))));
  }
  if (options.collections.size() >= BoxSlot::kMaxRanks) {
    return Status(Code::kInvalidArgument, fmt::format("black_box: at most {} collections, not {}",
                                                      BoxSlot::kMaxRanks - 1, options.collections.size()));
  }
  return Status();
}

// {"tensors":[ROW]} of this one tensor, without what is around the row.
std::string names_row(const format::NameEntry& entry) {
  constexpr std::string_view kBefore = R"({"tensors":[)";
  constexpr std::string_view kAfter = "]}";
  const std::string all = format::encode_names({&entry, 1});
  return all.substr(kBefore.size(), all.size() - kBefore.size() - kAfter.size());
}

}  // namespace

Result<std::unique_ptr<BlackBox>> BlackBox::create(const BlackBoxOptions& options, TensorTable& tensors,
                                                   CapturePlan& plan, const Clock& clock) {
  TRAINWARDEN_RETURN_IF_ERROR(check(options));
  const std::size_t bytes = slot_bytes(options) * (static_cast<std::size_t>(options.steps) + 1);
  void* region = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) {
    return Status(Code::kResourceExhausted, fmt::format("no memory for a black box of {} ({}); make it smaller",
                                                        format_bytes(bytes), std::strerror(errno)));
  }
  // Both are hints, as for the staging area.
  // A small step would take a whole such page of each of its slots.
  if (slot_bytes(options) >= kHugePageBytes * 4) static_cast<void>(::madvise(region, bytes, MADV_HUGEPAGE));
  static_cast<void>(::madvise(region, bytes, MADV_DONTFORK));
  const MutableByteSpan memory(static_cast<std::byte*>(region), bytes);
  return std::unique_ptr<BlackBox>(new BlackBox(options, memory, tensors, plan, clock));
}

BlackBox::BlackBox(const BlackBoxOptions& options, MutableByteSpan memory, TensorTable& tensors, CapturePlan& plan,
                   const Clock& clock)
    : memory_(memory),
      tensors_(tensors),
      plan_(plan),
      clock_(clock),
      ranks_(ranks_of(plan.black_box_collections())),
      looked_ns_(clock.steady_ns()) {
  const std::size_t bytes = slot_bytes(options);
  for (std::size_t i = 0; i * bytes < memory.size(); ++i) slots_.emplace_back(memory.subspan(i * bytes, bytes));
}

BlackBox::~BlackBox() {
  ::munmap(memory_.data(), memory_.size());
}

// Steps.

void BlackBox::begin_step(const StepId& id) {
  // The step before had nothing for it, or only the mode was switched.
  if (BoxSlot* const open = open_.load()) return open->set_id(id);
  BoxSlot* const slot = free_slot();
  if (slot == nullptr) {
    steps_without_room_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  slot->open(next_number_++, id);
  open_.store(slot);
}

void BlackBox::end_step() {
  BoxSlot* const slot = open_.load();
  if (slot == nullptr || (slot->item_count() == 0 && slot->missing_count() == 0)) return;
  open_.store(nullptr);
  slot->hold(clock_.unix_ns());
  missing_.fetch_add(slot->missing_count(), std::memory_order_relaxed);
  give_up_what_does_not_fit(*slot);
}

// One that holds nothing, else the one with the oldest step.
BoxSlot* BlackBox::free_slot() {
  std::array<BoxSlot*, kMaxBoxSteps + 1> by_age{};
  std::size_t count = 0;
  for (BoxSlot& slot : slots_) {
    if (!slot.held()) return &slot;
    by_age[count++] = &slot;
  }
  std::sort(by_age.begin(), by_age.begin() + static_cast<std::ptrdiff_t>(count),
            [](const BoxSlot* a, const BoxSlot* b) { return a->number() < b->number(); });
  for (std::size_t i = 0; i < count; ++i) {
    if (by_age[i]->try_free()) return by_age[i];
  }
  return nullptr;
}

void BlackBox::give_up_what_does_not_fit(const BoxSlot& slot) {
  std::uint64_t asked = slot.asked_bytes(ranks_.size());
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    last_asked_[rank] = slot.asked_bytes(rank);
    asked += last_asked_[rank];
  }
  for (std::size_t rank = 0; rank < ranks_.size() && asked > slot.capacity_bytes(); ++rank) {
    if (last_asked_[rank] == 0) continue;
    asked -= std::exchange(last_asked_[rank], 0);
    give_up(rank, fmt::format("a step has {} of room", format_bytes(slot.capacity_bytes())));
  }
}

void BlackBox::keep_to(double share) {
  if (share <= 0 || next_number_ - looked_at_ < kStepsBetweenLooks) return;
  looked_at_ = next_number_;
  const std::int64_t now_ns = clock_.steady_ns();
  const std::int64_t spent_ns = spent_ns_.load(std::memory_order_relaxed);
  const auto passed = static_cast<double>(now_ns - std::exchange(looked_ns_, now_ns));
  const auto spent = static_cast<double>(spent_ns - std::exchange(spent_then_ns_, spent_ns));
  if (spent_ns < kGraceNs || spent <= share * passed) return;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (std::exchange(last_asked_[rank], 0) == 0) continue;
    return give_up(rank, fmt::format("keeping it took {:.2g} % of the time, and the budget leaves it {:.2g} %",
                                     100 * spent / passed, 100 * share));
  }
}

void BlackBox::give_up(std::size_t rank, std::string_view why) {
  const std::uint32_t bit = std::uint32_t{1} << rank;
  if ((given_up_.fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  plan_.leave_out_of_black_box(ranks_[rank]);
  log(LogLevel::kWarning, "the black box gives up collection {}: {}", ranks_[rank], why);
}

const BoxLabel* BlackBox::take_broken_loss() {
  const BoxLabel* const loss = broken_loss_.load();
  return loss == nullptr || std::exchange(broken_loss_taken_, true) ? nullptr : loss;
}

// Keeping.

// The open slot, which then stays open until end_filling().
BoxSlot* BlackBox::begin_filling() {
  while (BoxSlot* const slot = open_.load()) {
    slot->begin_filling();
    if (open_.load() == slot) return slot;
    slot->end_filling();
  }
  return nullptr;
}

void BlackBox::keep(TensorEntry& entry, const TensorView& view, bool always) {
  const std::int64_t begin_ns = clock_.steady_ns();
  BoxSlot* const slot = begin_filling();
  if (slot == nullptr) return;  // counted as a step without room
  struct Filling {
    BoxSlot& slot;
    ~Filling() { slot.end_filling(); }
  } const filling{*slot};
  TensorEntry* const target = view.device.host_readable() ? entry_for(entry, slot->number()) : nullptr;
  if (target == nullptr) {
    slot->count_missing(view.packed_bytes());
  } else {
    const BoxLabel& label = label_of(*target, always);
    const BoxItem* const item = slot->add(label, view);
    if (label.loss && item != nullptr && has_non_finite(item->dtype, item->data)) broken_loss_.store(&label);
  }
  spent_ns_.fetch_add(clock_.steady_ns() - begin_ns, std::memory_order_relaxed);
}

void BlackBox::keep_scalar(TensorEntry& entry, double value) {
  keep(entry, TensorView::of(&value, DType::kFloat64, Shape()), true);
}

// nullptr when there is no room for another name.
TensorEntry* BlackBox::entry_for(TensorEntry& entry, std::uint64_t number) {
  const std::uint32_t times = entry.times_in_box_step(number);
  if (times == 0) return &entry;
  for (std::uint32_t suffix = times;; ++suffix) {
    TensorEntry* const other = tensors_.add_suffixed(entry, suffix);
    if (other == nullptr || other->times_in_box_step(number) == 0) return other;
  }
}

const BoxLabel& BlackBox::label_of(TensorEntry& entry, bool always) {
  const Membership* const membership = entry.membership.load(std::memory_order_acquire);
  const BoxLabel* const known = entry.box_label.load(std::memory_order_acquire);
  if (known != nullptr && known->membership == membership) return *known;
  const std::vector<std::string> collections = plan_.names_of(*membership);
  std::size_t rank = 0;
  for (const std::string& collection : collections) {
    const auto found = std::find(ranks_.begin(), ranks_.end(), collection);
    const bool giveable = found != ranks_.end() || !plan_.is_in_black_box(collection);
    if (giveable && found == ranks_.end()) continue;  // not what it is kept for
    rank = std::max(rank, static_cast<std::size_t>(found - ranks_.begin()));
  }
  std::lock_guard lock(labels_mutex_);
  BoxLabel& label = labels_.emplace_back();
  label.id = entry.id;
  label.name = entry.name;
  label.names_row = names_row({entry.id, entry.name, collections});
  label.key = format::dump_json(format::OrderedJson(format::escape_name(entry.name)));
  label.membership = membership;
  label.loss = std::find(collections.begin(), collections.end(), "losses") != collections.end();
  label.rank = always ? ranks_.size() : rank;
  entry.box_label.store(&label, std::memory_order_release);
  return label;
}

// Looking.

void BlackBox::take(BoxSnapshot& snapshot) const noexcept {
  snapshot.count = 0;
  for (const BoxSlot& slot : slots_) {
    if (!slot.pin()) continue;
    BoxStep step;
    step.slot = &slot;
    step.id = slot.id();
    step.open = !slot.held();
    step.unix_ns = step.open ? clock_.unix_ns() : slot.unix_ns();
    step.missing_count = slot.missing_count();
    step.missing_bytes = slot.missing_bytes();
    // Between the claim of a place and the item lie a few instructions of another thread.
    const std::uint32_t count = slot.item_count();
    while (step.item_count < count && slot.item(step.item_count) != nullptr) ++step.item_count;
    step.missing_count += count - step.item_count;
    if (step.open && step.item_count == 0 && step.missing_count == 0) {
      slot.unpin();
      continue;
    }
    std::size_t at = snapshot.count++;
    for (; at > 0 && snapshot.steps[at - 1].slot->number() > slot.number(); --at) {
      snapshot.steps[at] = snapshot.steps[at - 1];
    }
    snapshot.steps[at] = step;
  }
}

void BlackBox::release(BoxSnapshot& snapshot) const noexcept {
  for (const BoxStep& step : snapshot) step.slot->unpin();
  snapshot.count = 0;
}

void BlackBox::add_to(BlackBoxReport& report) const {
  report.on = true;
  report.bytes = memory_.size();
  report.spent_ns = spent_ns_.load(std::memory_order_relaxed);
  report.missing = missing_.load(std::memory_order_relaxed);
  report.steps_without_room = steps_without_room();
  const std::uint32_t bits = given_up();
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if ((bits >> rank & 1) != 0) report.given_up.push_back(ranks_[rank]);
  }
}

}  // namespace trainwarden::capture
