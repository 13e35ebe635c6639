// ModuleRegistry: the modules of the program that were met, as long as they live; it keeps none of them alive.
//
// A module that a shared_ptr owns is known by a weak_ptr. One that is on the stack, or a member, or of a unique_ptr has
// nothing to point to it; there a control block of ours is left in its enable_shared_from_this, as an expired owner
// would leave it. The module's destructor lets go of it, and so does a shared_ptr that takes the module over; either
// way we hear of it and forget the module, until it is met again.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace trainwarden::torch {

// A module, kept alive while this is in hand; short, then.
struct LiveModule {
  const ::torch::nn::Module* module = nullptr;
  std::shared_ptr<const ::torch::nn::Module> owner;  // empty for one that no shared_ptr owns
  std::uint64_t number = 0;                          // in the order in which they were met; never given again
};

// From many threads. Never destroyed: modules may live longer than anything else.
class ModuleRegistry {
 public:
  static ModuleRegistry& instance();

  // The module is alive now.
  void add(const ::torch::nn::Module& module);
  void forget(const ::torch::nn::Module* module, std::uint64_t number);

  std::vector<LiveModule> live();  // by number
  // None when it is gone.
  std::optional<LiveModule> find(const ::torch::nn::Module* module, std::uint64_t number);

  // Changes whenever modules come, and with some of those that go.
  std::uint64_t version();

 private:
  struct Entry {
    std::uint64_t number;
    bool is_owned;
    std::weak_ptr<const ::torch::nn::Module> owner;
  };

  static std::optional<LiveModule> lock(const ::torch::nn::Module* module, const Entry& entry);

  std::mutex mutex_;
  std::map<const ::torch::nn::Module*, Entry> entries_;
  std::uint64_t next_number_ = 0;
  std::uint64_t version_ = 0;
};

// Those that are in no other.
std::vector<LiveModule> roots_of(std::vector<LiveModule> modules);

}  // namespace trainwarden::torch
