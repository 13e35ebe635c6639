#include "hook/capture/writing/step_assembler.h"

#include <iterator>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "hook/capture/gpu/device_items.h"

namespace trainwarden::capture {
namespace {

// An item, and the statistics that become of it.
constexpr std::size_t kDeviceItemBytes = sizeof(DeviceItem) + sizeof(journal::StatisticsRow) + 256;

// What the row holds of the heap, for the staging area's account.
std::size_t held_bytes(const journal::StatisticsRow& row) {
  const Statistics& statistics = row.statistics;
  const std::size_t limbs =
      statistics.sum.limbs.size() + statistics.abs_sum.limbs.size() + statistics.square_sum.limbs.size();
  return sizeof row + limbs * sizeof(std::uint64_t) + statistics.histogram.bins.size() * sizeof(Histogram::Bin);
}

}  // namespace

StepAssembler::StepAssembler(StagingArea& staging, TensorTable& tensors, const CapturePlan& plan)
    : staging_(staging), tensors_(tensors), plan_(plan), step_(std::make_unique<StagedStep>(staging)) {}

StepAssembler::Slot::~Slot() {
  if (assembler_ == nullptr) return;
  {
    std::lock_guard lock(assembler_->mutex_);
    --assembler_->copies_under_way_;
  }
  assembler_->copied_.notify_all();
}

// nullptr when there is no room for another name.
TensorEntry* StepAssembler::entry_for_save(TensorEntry& entry, Saves Mark::*kind) {
  if (mark_saved(entry, kind)) return &entry;
  for (std::uint32_t suffix = (mark_of(entry.id).*kind).last_suffix + 1;; ++suffix) {
    TensorEntry* other = tensors_.add_suffixed(entry, suffix);
    if (other == nullptr) return nullptr;
    if (!mark_saved(*other, kind)) continue;
    (mark_of(entry.id).*kind).last_suffix = suffix;
    return other;
  }
}

std::optional<StepAssembler::Slot> StepAssembler::claim(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  const auto memory = step_->share.allocate(bytes);
  if (!memory) return std::nullopt;
  ++copies_under_way_;
  return Slot(*this, *memory);
}

StepAssembler::Added StepAssembler::add_tensor(Slot slot, TensorEntry& entry, StagedTensor tensor) {
  std::lock_guard lock(mutex_);
  const TensorEntry* target = entry_for_save(entry);
  if (target == nullptr) return Added::kNoName;
  tensor.id = target->id;
  tensor.data = slot.memory();
  add_name(*target);
  rows().tensors.push_back(std::move(tensor));
  kept_bytes_.fetch_add(slot.memory().size(), std::memory_order_relaxed);
  return Added::kYes;
}

StepAssembler::Added StepAssembler::add_statistics(TensorEntry& entry, journal::StatisticsRow& row) {
  std::lock_guard lock(mutex_);
  if (!step_->share.charge(held_bytes(row))) return Added::kNoRoom;
  const TensorEntry* target = entry_for_save(entry);
  if (target == nullptr) return Added::kNoName;
  row.id = target->id;
  add_name(*target);
  rows().statistics.push_back(std::move(row));
  return Added::kYes;
}

StepAssembler::Added StepAssembler::add_scalar(TensorEntry& entry, double value) {
  std::lock_guard lock(mutex_);
  if (!step_->share.charge(sizeof(journal::ScalarRow))) return Added::kNoRoom;
  const TensorEntry* target = entry_for_save(entry);
  if (target == nullptr) return Added::kNoName;
  add_name(*target);
  rows().scalars.push_back({target->id, value});
  return Added::kYes;
}

StepAssembler::Added StepAssembler::add_reductions(TensorEntry& entry, std::span<const SavedReduction> reductions) {
  std::lock_guard lock(mutex_);
  if (!step_->share.charge(reductions.size() * sizeof(journal::ReductionRow))) return Added::kNoRoom;
  const TensorEntry* target = entry_for_save(entry, &Mark::reductions);
  if (target == nullptr) return Added::kNoName;
  add_name(*target);
  for (const SavedReduction& saved : reductions) {
    rows().reductions.push_back({target->id, saved.reduction, saved.abs, saved.value});
  }
  return Added::kYes;
}

StepAssembler::Added StepAssembler::add_device_item(TensorEntry& entry, DeviceItem& item) {
  std::lock_guard lock(mutex_);
  if (!step_->share.charge(kDeviceItemBytes)) return Added::kNoRoom;
  const TensorEntry* target = entry_for_save(entry);
  if (target == nullptr) return Added::kNoName;
  item.id = target->id;
  add_name(*target);
  device_items().push_back(std::move(item));
  return Added::kYes;
}

void StepAssembler::await_device_item(DeviceItem item) {
  std::lock_guard lock(mutex_);
  device_items().push_back(std::move(item));
}

void StepAssembler::begin_look() {
  std::lock_guard lock(mutex_);
  aside_.emplace();
}

// Without memory to put the two together, what was put aside is lost, and counted.
void StepAssembler::end_look() noexcept {
  std::lock_guard lock(mutex_);
  Aside aside = *std::exchange(aside_, std::nullopt);
  const std::size_t count = aside.rows.tensors.size() + aside.rows.statistics.size() + aside.rows.scalars.size() +
                            aside.rows.reductions.size() + aside.device_items.size();
  try {
    step_->append(std::move(aside.rows));
    for (DeviceItem& item : aside.device_items) step_->device_items.push_back(std::move(item));
  } catch (const std::bad_alloc&) {
    await_device_items(aside.device_items);  // they are copied into the step's memory
    step_->losses.add(LossCause::kOutOfMemory, count, 0, [] { return std::string("out of memory"); });
  }
}

bool StepAssembler::step_is_empty() const {
  std::lock_guard lock(mutex_);
  return step_->empty();
}

std::unique_ptr<StagedStep> StepAssembler::take_part(const StepId& id) {
  std::lock_guard lock(mutex_);
  if (aside_ || copies_under_way_ > 0 || !step_->device_items.empty() || step_->tensors.empty()) return nullptr;
  auto rest = std::make_unique<StagedStep>(staging_);
  rest->tensors.reserve(step_->tensors.size());
  rest->parts = step_->parts + 1;
  rest->statistics = std::move(step_->statistics);
  rest->scalars = std::move(step_->scalars);
  rest->reductions = std::move(step_->reductions);
  rest->losses = std::exchange(step_->losses, LossTally());
  rest->share.take_charges_of(step_->share);
  step_->id = id;
  step_->is_part = true;
  kept_bytes_ = 0;
  return std::exchange(step_, std::move(rest));
}

std::unique_ptr<StagedStep> StepAssembler::end(const StepId& id) {
  std::unique_lock lock(mutex_);
  if (aside_) return nullptr;
  copied_.wait(lock, [&] { return copies_under_way_ == 0; });
  ++step_number_;
  kept_bytes_ = 0;
  if (step_->empty()) return nullptr;
  auto next = std::make_unique<StagedStep>(staging_);
  next->tensors.reserve(step_->tensors.size());  // steps are much alike
  next->statistics.reserve(step_->statistics.size());
  next->scalars.reserve(step_->scalars.size());
  next->reductions.reserve(step_->reductions.size());
  next->device_items.reserve(step_->device_items.size());
  step_->id = id;
  return std::exchange(step_, std::move(next));
}

void StepAssembler::lose(StagedStep& step) {
  std::lock_guard lock(mutex_);
  step_->losses.merge(step.losses);
  if (step.item_count() > 0) {
    step_->losses.add(LossCause::kStagingFull, step.item_count(), step.tensor_bytes(),
                      [&] { return fmt::format("step {}: too many steps wait for the writer", step.id.global_step); });
  }
  step_->new_names.insert(step_->new_names.end(), step.new_names.begin(), step.new_names.end());
}

StepAssembler::Mark& StepAssembler::mark_of(std::uint32_t id) {
  if (id >= marks_.size()) marks_.resize(id + std::size_t{1});
  return marks_[id];
}

// False when the entry was saved in this step before.
bool StepAssembler::mark_saved(const TensorEntry& entry, Saves Mark::*kind) {
  Saves& saves = mark_of(entry.id).*kind;
  if (saves.saved_in == step_number_) return false;
  saves = {step_number_, 0};
  return true;
}

// The journal hears a name before its id is used, and again when its collections have changed.
void StepAssembler::add_name(const TensorEntry& entry) {
  Mark& mark = mark_of(entry.id);
  const Membership* membership = entry.membership.load(std::memory_order_acquire);
  if (mark.named == membership) return;
  rows().new_names.push_back({entry.id, entry.name, plan_.names_of(*membership)});
  mark.named = membership;
}

}  // namespace trainwarden::capture
