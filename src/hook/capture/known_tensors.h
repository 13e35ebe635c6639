// KnownTensors: the tensors that the training has named, each with the collections that the plan gives it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "hook/capture/capture_plan.h"
#include "hook/capture/tensor_table.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

// From any thread.
class KnownTensors {
 public:
  explicit KnownTensors(CapturePlan& plan) : plan_(plan) {}

  TensorTable& table() { return table_; }
  CapturePlan& plan() { return plan_; }

  TensorEntry* find(TensorId id) const { return table_.find(id); }
  // nullptr when the name is too long, or there are too many.
  TensorEntry* find_or_add(std::string_view name) {
    if (TensorEntry* entry = table_.find(name)) return entry;
    return add(name);
  }
  // With these collections besides those that the plan finds by the name. An id that is none: as find_or_add().
  TensorId declare(std::string_view name, std::span<const std::string_view> collections);
  void add_to(TensorEntry& entry, std::span<const std::string_view> collections);

  bool wants(TensorId id) const;
  bool wants(std::string_view name);
  std::optional<std::int64_t> next_wanted_step(TensorId id) const;

  // The plan has changed: every tensor gets the collections that it has now.
  void update_memberships();

 private:
  TensorEntry* add(std::string_view name);

  CapturePlan& plan_;
  TensorTable table_;
};

}  // namespace trainwarden::capture
