// The skip path must not allocate: this program counts what operator new is asked for.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#include "hook/capture/capture_testing.h"
#include "store/storage/memory_storage.h"

namespace {

thread_local std::uint64_t allocations = 0;  // of this thread

}  // namespace

// Not inlined: g++ would see what malloc gave meet delete, and warn.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
// Seen by libraries, as the others are by themselves: they are to find all of these or none.
[[gnu::noinline, gnu::visibility("default")]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace trainwarden::capture {
namespace {

TEST(HookAllocation, SkippingATensorAllocatesNothing) {
  const auto storage = storage::create_memory_storage();
  HookOptions options = keep_all_of("^kept$");
  const auto hook = open_hook_on(*storage, options);
  const std::vector<float> values(64);
  const TensorView view = view_of(values);
  const SavedReduction reduction{Reduction::kMean, false, 1};
  const TensorId id = hook->declare("unwanted/by/id/with/a/long/name");
  ASSERT_FALSE(hook->wants("unwanted/by/name/with/a/long/name"));  // the first sight of a name costs its entry

  const std::uint64_t before = allocations;
  for (int i = 0; i < 1000; ++i) {
    hook->save_tensor("unwanted/by/name/with/a/long/name", view);
    hook->save_tensor(id, view);
    hook->save_reductions(id, {&reduction, 1});
    static_cast<void>(hook->wants("unwanted/by/name/with/a/long/name"));
    static_cast<void>(hook->wants(id));
    static_cast<void>(hook->wants_collection("gradients"));
  }
  EXPECT_EQ(allocations, before);
}

TEST(HookAllocation, AStepThatKeepsNothingAllocatesNothing) {
  const auto storage = storage::create_memory_storage();
  HookOptions options = keep_all_of("^kept$");
  options.save = SavePolicy::every(1'000'000);
  const auto hook = open_hook_on(*storage, options);
  hook->offer_checkpoints();
  const std::vector<float> values(64);
  hook->end_step();  // step 0 is wanted

  const std::uint64_t before = allocations;
  for (int i = 0; i < 1000; ++i) {
    hook->save_tensor("kept", view_of(values));
    hook->save_tensor("a name that was never seen before", view_of(values));
    hook->end_step();
    EXPECT_FALSE(hook->take_checkpoint_request().has_value());
  }
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace trainwarden::capture
