#include "core/base/boot_id.h"

#include <fstream>

namespace trainwarden {

const std::string& boot_id() {
  static const std::string id = [] {
    std::string text;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
    return text;
  }();
  return id;
}

}  // namespace trainwarden
