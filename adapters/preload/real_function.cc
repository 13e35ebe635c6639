// Finds LibTorch's functions behind ours.
#include "real_function.h"

#include <cstdlib>

#include <dlfcn.h>

#include "loaded_libraries.h"

namespace trainwarden::preload {
namespace {

// A program that loads LibTorch by dlopen may keep it out of the global scope, where RTLD_NEXT looks.
void* find_in_torch(const char* mangled_name) {
  const LoadedLibrary torch = find_loaded_library("libtorch_cpu.so");
  void* library = torch.found ? dlopen(torch.path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  return library != nullptr ? dlsym(library, mangled_name) : nullptr;
}

}  // namespace

void* find_real_function(const char* mangled_name) {
  void* address = dlsym(RTLD_NEXT, mangled_name);
  if (address == nullptr) address = find_in_torch(mangled_name);
  if (address == nullptr) {
    print_error("the program calls ", mangled_name, ", which no library of it has; run it without LD_PRELOAD");
    abort();
  }
  return address;
}

}  // namespace trainwarden::preload
