// RealFunction: LibTorch's own function behind one that we stand before.
#pragma once

namespace trainwarden::preload {

// The address of a LibTorch function by its mangled name. Without it the program cannot go on: it ends with a message.
void* find_real_function(const char* mangled_name);

// `Function` is its type. Looked up at the first call; from many threads at once, too.
template <class Function>
class RealFunction {
 public:
  explicit constexpr RealFunction(const char* mangled_name) : mangled_name_(mangled_name) {}

  Function* operator()() const {
    void* address = __atomic_load_n(&address_, __ATOMIC_ACQUIRE);
    if (address == nullptr) {
      address = find_real_function(mangled_name_);
      __atomic_store_n(&address_, address, __ATOMIC_RELEASE);
    }
    return reinterpret_cast<Function*>(address);
  }

 private:
  const char* mangled_name_;
  mutable void* address_ = nullptr;
};

}  // namespace trainwarden::preload
