#include "ui/cli/commands/exit_code.h"

#include <cstdio>

#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {

int exit_code_of(const Status& status) {
  switch (status.code()) {
    case Code::kOk: return kExitFine;
    case Code::kInvalidArgument: return kExitUsage;
    case Code::kDataLoss: return kExitDataLost;
    default: return kExitFailed;
  }
}

int report_error(const Status& status) {
  emit(stderr, "trainwarden: error: {}\n", Message{status.message()});
  return exit_code_of(status);
}

}  // namespace trainwarden::cli
