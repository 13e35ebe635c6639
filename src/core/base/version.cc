#include "trainwarden/version.h"

namespace trainwarden {

std::string_view version() {
  return TW_VERSION;
}

}  // namespace trainwarden
