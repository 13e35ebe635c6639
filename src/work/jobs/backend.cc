#include "work/jobs/backend.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::jobs {

std::string_view name(Backend backend) {
  return kBackendNames[static_cast<std::size_t>(backend)];
}

Result<Backend> backend_named(std::string_view name, std::string_view what) {
  const auto* const known = std::find(kBackendNames.begin(), kBackendNames.end(), name);
  if (known != kBackendNames.end()) return static_cast<Backend>(known - kBackendNames.begin());
  return Status(Code::kDataLoss, fmt::format("{}: unknown backend \"{}\"", what, printable(name)));
}

}  // namespace trainwarden::jobs
