// Environment: the variables of this process, or in a test those that it makes up.
#pragma once

#include <cstdlib>
#include <functional>
#include <string>

namespace trainwarden {

// nullptr for a variable that is not set.
using Environment = std::function<const char*(const char* name)>;
inline const char* process_environment(const char* name) {
  return std::getenv(name);
}
// Empty for one that is not set.
inline std::string variable_text(const Environment& environment, const char* name) {
  const char* const value = environment(name);
  return value != nullptr ? value : "";
}

}  // namespace trainwarden
