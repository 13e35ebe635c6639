#include "core/base/host_name.h"

#include <array>

#include <unistd.h>

#include "core/base/text.h"

namespace trainwarden {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? printable(name.data()) : "";
}

}  // namespace trainwarden
