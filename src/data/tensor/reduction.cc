#include "trainwarden/reduction.h"

namespace trainwarden {

std::string_view name(Reduction reduction) {
  switch (reduction) {
    case Reduction::kMin: return "min";
    case Reduction::kMax: return "max";
    case Reduction::kMean: return "mean";
    case Reduction::kStd: return "std";
    case Reduction::kVariance: return "variance";
    case Reduction::kSum: return "sum";
    case Reduction::kL1: return "l1";
    case Reduction::kL2: return "l2";
    case Reduction::kProd: return "prod";
  }
  return "unknown reduction";
}

std::optional<Reduction> parse_reduction(std::string_view name) {
  for (int index = 0; index < kReductionCount; ++index) {
    const auto reduction = static_cast<Reduction>(index);
    if (trainwarden::name(reduction) == name) return reduction;
  }
  return std::nullopt;
}

std::string describe(Reduction reduction, bool abs) {
  return (abs ? "abs " : "") + std::string(name(reduction));
}

}  // namespace trainwarden
