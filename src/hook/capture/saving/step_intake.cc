#include "hook/capture/saving/step_intake.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::capture {

std::optional<StepAssembler::Slot> StepIntake::claim(const TensorEntry& entry, std::size_t bytes) {
  std::optional<StepAssembler::Slot> slot;
  if (bytes > staging_.capacity_bytes()) {
    lose(LossCause::kTooLarge, 1, bytes, [&] {
      return fmt::format("{} of {} is larger than the whole staging area of {}; raise staging_bytes",
                         printable(entry.name), format_bytes(bytes), format_bytes(staging_.capacity_bytes()));
    });
    return slot;
  }
  const bool taken = take_room([&] {
    auto claimed = step_.claim(bytes);
    if (!claimed) return false;
    slot.emplace(*std::move(claimed));
    return true;
  });
  if (!taken) lose_full(entry, bytes);
  return slot;
}

void StepIntake::add_row(TensorEntry& entry, journal::StatisticsRow row) {
  add(entry, 0, [&] { return step_.add_statistics(entry, row); });
}

void StepIntake::add_shape(TensorEntry& entry, DType dtype, const Shape& shape) {
  add_row(entry, {.dtype = dtype, .shape = shape, .shape_only = true});
}

void StepIntake::lose_off(const TensorEntry& entry, std::uint64_t bytes) {
  lose(LossCause::kHookOff, 1, bytes, [&] { return printable(entry.name); });
}

void StepIntake::lose_unsupported(const TensorEntry& entry, std::string_view problem) {
  lose(LossCause::kUnsupported, 1, 0, [&] { return fmt::format("{}: {}", printable(entry.name), problem); });
}

void StepIntake::lose_nameless() {
  lose(LossCause::kUnsupported, 1, 0, [] {
    return fmt::format(
        "a name is longer than {} bytes, or there are more than {} names; give tensors the same names "
        "at every step",
        TensorTable::kMaxNameBytes, TensorTable::kMaxTensors);
  });
}

void StepIntake::lose_undeclared(TensorId id) {
  lose(LossCause::kUnsupported, 1, 0, [&] { return fmt::format("no tensor was declared as {}", id.value); });
}

void StepIntake::lose_full(const TensorEntry& entry, std::uint64_t bytes) {
  lose(LossCause::kStagingFull, 1, bytes, [&] {
    return fmt::format(
        "no room for {} of {} in the staging area of {}: the storage is slower than what is saved; "
        "save less often, keep statistics, or raise staging_bytes",
        printable(entry.name), format_bytes(bytes), format_bytes(staging_.capacity_bytes()));
  });
}

}  // namespace trainwarden::capture
