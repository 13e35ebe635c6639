// DynamicLibrary: a library of the system that is loaded when it is first needed, so that a program starts, and a
// training loads nothing more, where nobody needs it.
#pragma once

#include <dlfcn.h>

#include <span>
#include <string>

#include "trainwarden/status.h"

namespace trainwarden {

// It stays loaded. One thread at a time.
class DynamicLibrary {
 public:
  // The first of these names that the system's loader finds. kUnavailable with the loader's own words.
  static Result<DynamicLibrary> load(std::span<const char* const> names);

  // Sets `function` to what the library calls `name`, null when it has none.
  template <class Function>
  void find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(::dlsym(library_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  // The first name that was not found; empty when all were.
  const std::string& missing() const { return missing_; }

 private:
  explicit DynamicLibrary(void* library) : library_(library) {}

  void* library_;
  std::string missing_;
};

}  // namespace trainwarden
