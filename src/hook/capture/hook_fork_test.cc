// Data-loader workers are forked from the training process: the hook must be off in them, and never in the way.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "core/base/clock.h"
#include "core/base/folder_testing.h"
#include "data/device/fake_accelerator.h"
#include "hook/capture/capture_testing.h"
#include "hook/capture/open_hook.h"
#include "store/storage/local_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::capture {
namespace {

// Returns when the hook's thread has written a step, and so has long started. AddressSanitizer holds a lock of the
// dynamic linker while a thread starts, and a child that is forked at that moment can never start one of its own.
void wait_for_thread_of(Hook& hook) {
  hook.save_scalar("first", 1);
  hook.end_step();
  ASSERT_TRUE(hook.flush().ok());
}

// Runs `check` in a forked child; its exit code says whether all went well.
bool holds_in_child(const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that hangs is killed
    ::_exit(check() ? 0 : 1);
  }
  int state = 0;
  ::waitpid(child, &state, 0);
  return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

TEST(HookFork, IsOffInTheChildAndGoesOnInTheParent) {
  const auto storage = storage::create_memory_storage();
  const auto hook = open_hook_on(*storage, keep_all_of("x"));
  const std::vector<float> values = {1, 2, 3};
  hook->save_tensor("x", view_of(values));
  EXPECT_TRUE(holds_in_child([&] {
    hook->save_tensor("x", view_of(values));
    hook->save_scalar("s", 1);
    hook->end_step();
    return !hook->wants("x") && !hook->report().on && hook->flush().ok() && hook->close().ok() &&
           hook->report().off_reason == "forked from the process that opened the hook";
  }));
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  const ReadRun run = read_run(*storage);
  ASSERT_EQ(run.steps.size(), 1u);
  EXPECT_EQ(floats_of(run.steps[0].values.at("x")), values);
}

TEST(HookFork, TheChildLeavesTheGpuAlone) {
  const auto storage = storage::create_memory_storage();
  device::FakeGpu gpu;
  auto hook = *HookOpener::open(keep_all_of("x"), borrowed(*storage), system_clock(), gpu.factory());
  wait_for_thread_of(*hook);
  const std::vector<float> values = {1, 2, 3};
  TensorView view = view_of(values);
  view.device = {DeviceType::kCuda, 0};
  gpu.hold_all();
  hook->save_tensor("x", view);
  EXPECT_TRUE(holds_in_child([&] {
    hook->begin_group();
    hook->save_tensor("x", view);
    hook->end_group();
    hook->end_step();
    hook.reset();
    return gpu.opened() == 1;
  }));
  gpu.release();
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  EXPECT_EQ(floats_of(read_run(*storage).steps.at(1).values.at("x")), values);
}

TEST(HookFork, TheChildMayDestroyIt) {
  const auto storage = storage::create_memory_storage();
  auto hook = open_hook_on(*storage, keep_all_of("x"));
  hook->save_scalar("s", 1);
  EXPECT_TRUE(holds_in_child([&] {
    hook.reset();
    return true;
  }));
  ASSERT_TRUE(hook->close().ok());
  EXPECT_EQ(read_run(*storage).steps.size(), 1u);
}

TEST(HookFork, TheChildMayOpenItsOwn) {
  const auto storage = storage::create_memory_storage();
  const auto hook = open_hook_on(*storage, keep_all_of("x"));
  wait_for_thread_of(*hook);
  EXPECT_TRUE(holds_in_child([&] {
    const auto own_storage = storage::create_memory_storage();
    const auto own = open_hook_on(*own_storage, keep_all_of("x"));
    own->save_scalar("s", 1);
    return own->close().ok() && read_run(*own_storage).steps.size() == 1;
  }));
}

// The child must not keep the run locked after the parent has gone.
TEST(HookFork, TheChildHoldsNoLock) {
  const TestFolder own;
  const std::filesystem::path folder = own.path() / "run";
  HookOptions options = keep_all_of("x");
  options.run_dir = folder;
  auto hook = Hook::open(options);
  ASSERT_TRUE(hook.ok()) << hook.status().to_string();
  int ready[2];
  int done[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(done), 0);
  char byte = 0;
  const pid_t child = ::fork();
  if (child == 0) {  // says that it runs, and lives until the parent is done
    ::close(done[1]);
    const bool said = ::write(ready[1], &byte, 1) == 1;
    ::_exit(said && ::read(done[0], &byte, 1) == 0 ? 0 : 1);
  }
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  hook->reset();
  EXPECT_FALSE(storage::open_local_storage(folder)->locked(journal::writer_lock("rank-00000")));
  for (const int end : {ready[0], ready[1], done[0], done[1]}) ::close(end);
  int state = 0;
  ::waitpid(child, &state, 0);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0);
}

}  // namespace
}  // namespace trainwarden::capture
