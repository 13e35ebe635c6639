// ModuleRegistry: weak pointers, and notices left with modules that nobody owns.
#include "module_registry.h"

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <utility>

namespace trainwarden::torch {
namespace {

using Module = ::torch::nn::Module;

// The control block that is made with this notifies the registry when nothing refers to it any more.
template <class T>
struct NoticeAllocator {
  using value_type = T;

  NoticeAllocator(const Module* address, std::uint64_t entry_number) : module(address), number(entry_number) {}
  template <class U>
  NoticeAllocator(const NoticeAllocator<U>& other) : module(other.module), number(other.number) {}

  T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* memory, std::size_t count) {
    std::allocator<T>().deallocate(memory, count);
    ModuleRegistry::instance().forget(module, number);
  }
  friend bool operator==(const NoticeAllocator&, const NoticeAllocator&) = default;

  const Module* module;
  std::uint64_t number;
};

// Makes an owner that owns nothing and is gone at once; what stays is the weak pointer in the module.
void leave_notice(const Module& module, std::uint64_t number) {
  const auto leave_alone = [](Module*) {};
  std::shared_ptr<Module>(const_cast<Module*>(&module), leave_alone, NoticeAllocator<Module>(&module, number));
}

void add_descendants(const Module& module, std::unordered_set<const Module*>& descendants) {
  for (const auto& child : module.children()) {
    if (descendants.insert(child.get()).second) add_descendants(*child, descendants);
  }
}

}  // namespace

ModuleRegistry& ModuleRegistry::instance() {
  static ModuleRegistry* const registry = new ModuleRegistry;
  return *registry;
}

void ModuleRegistry::add(const Module& module) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock_guard(mutex_);
    const auto known = entries_.find(&module);
    if (known != entries_.end() && lock(&module, known->second)) return;
    number = next_number_++;
    ++version_;
    const auto owner = module.weak_from_this();
    const bool is_owned = !owner.expired();
    entries_.insert_or_assign(&module, Entry{.number = number, .is_owned = is_owned, .owner = owner});
    if (is_owned) return;
  }
  leave_notice(module, number);  // may call forget()
}

void ModuleRegistry::forget(const Module* module, std::uint64_t number) {
  const std::lock_guard lock_guard(mutex_);
  const auto known = entries_.find(module);
  if (known == entries_.end() || known->second.number != number) return;
  entries_.erase(known);
  ++version_;
}

std::optional<LiveModule> ModuleRegistry::lock(const Module* module, const Entry& entry) {
  LiveModule live{.module = module, .owner = entry.owner.lock(), .number = entry.number};
  if (entry.is_owned && live.owner == nullptr) return std::nullopt;
  return live;
}

std::vector<LiveModule> ModuleRegistry::live() {
  std::vector<LiveModule> modules;
  const std::lock_guard lock_guard(mutex_);
  std::erase_if(entries_, [&](const auto& item) {
    auto live = lock(item.first, item.second);
    if (live) modules.push_back(*std::move(live));
    return !live;
  });
  std::sort(modules.begin(), modules.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  return modules;
}

std::optional<LiveModule> ModuleRegistry::find(const Module* module, std::uint64_t number) {
  const std::lock_guard lock_guard(mutex_);
  const auto known = entries_.find(module);
  if (known == entries_.end() || known->second.number != number) return std::nullopt;
  return lock(module, known->second);
}

std::uint64_t ModuleRegistry::version() {
  const std::lock_guard lock_guard(mutex_);
  return version_;
}

std::vector<LiveModule> roots_of(std::vector<LiveModule> modules) {
  std::unordered_set<const Module*> descendants;
  for (const LiveModule& live : modules) add_descendants(*live.module, descendants);
  std::erase_if(modules, [&](const LiveModule& live) { return descendants.contains(live.module); });
  return modules;
}

}  // namespace trainwarden::torch
