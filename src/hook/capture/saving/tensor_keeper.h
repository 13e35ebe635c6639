// TensorKeeper: what is kept of a tensor whose elements the host can read.
#pragma once

#include <span>
#include <string_view>

#include "hook/capture/saving/step_intake.h"
#include "hook/capture/tensor_table.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::capture {

// From any thread. What cannot be kept has been counted.
class TensorKeeper {
 public:
  // `intake` must outlive this.
  explicit TensorKeeper(StepIntake& intake) : intake_(intake) {}

  // Numbers, in memory of the host.
  void keep(TensorEntry& entry, FormBits form, const TensorView& view);
  // Strings have no statistics: they are kept whole, or only their shape is.
  void keep_strings(TensorEntry& entry, FormBits form, const Shape& shape, std::span<const std::string_view> strings);

 private:
  bool keep_values(TensorEntry& entry, FormBits form, const TensorView& view);
  void keep_statistics(TensorEntry& entry, FormBits form, const TensorView& view);

  StepIntake& intake_;
};

}  // namespace trainwarden::capture
