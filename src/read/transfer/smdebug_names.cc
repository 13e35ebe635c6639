#include "read/transfer/smdebug_names.h"

#include <fmt/format.h>

#include "read/transfer/statistics_fields.h"
#include "store/journal/run_folder.h"

namespace trainwarden::transfer {

std::string smdebug_worker(std::string_view worker) {
  const auto rank = journal::writer_id_of(worker);
  return rank ? fmt::format("worker_{}", *rank) : std::string(worker);
}

foreign::SmdebugCollection smdebug_collection(Collection collection) {
  foreign::SmdebugCollection described;
  if (collection.keep && collection.keep->any_statistics()) {
    for (const SavedReduction& saved : reductions_of(Statistics())) {
      const bool is_norm = saved.reduction == Reduction::kL1 || saved.reduction == Reduction::kL2;
      described.reductions.push_back(field_name(saved.reduction, saved.abs) + (is_norm ? "_norm" : ""));
    }
  }
  described.save_histogram = collection.keep && collection.keep->histogram;
  described.collection = std::move(collection);
  return described;
}

std::string unreadable_for_smdebug(DType dtype) {
  switch (dtype) {
    case DType::kInt8: return "int8, which smdebug reads as uint8";
    case DType::kInt16:
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kUInt64:
    case DType::kComplex64:
    case DType::kBFloat16:
    case DType::kFloat8E4M3:
    case DType::kFloat8E5M2: return fmt::format("{}, which smdebug does not read", name(dtype));
    default: return "";
  }
}

}  // namespace trainwarden::transfer
