#include "core/base/dynamic_library.h"

namespace trainwarden {

Result<DynamicLibrary> DynamicLibrary::load(std::span<const char* const> names) {
  std::string why;
  for (const char* name : names) {
    if (void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return DynamicLibrary(library);
    if (const char* error = ::dlerror(); error != nullptr && why.empty()) why = error;
  }
  return Status(Code::kUnavailable, why);
}

}  // namespace trainwarden
