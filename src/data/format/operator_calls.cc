#include "trainwarden/operator_calls.h"

namespace trainwarden {

std::string_view name(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kOperator: return "operator";
    case OperatorKind::kBackward: return "backward";
    case OperatorKind::kUser: return "user";
    case OperatorKind::kKernel: return "kernel";
    case OperatorKind::kCopy: return "copy";
    case OperatorKind::kPythonStack: return "python";
    case OperatorKind::kUnknown: break;
  }
  return "unknown";
}

}  // namespace trainwarden
