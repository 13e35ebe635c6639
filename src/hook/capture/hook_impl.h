// What is inside a Hook: the edge between the training program, which must never be harmed, and the session, which may
// fail.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <string>

#include "core/base/log.h"
#include "hook/capture/capture_session.h"
#include "hook/capture/fork_guard.h"
#include "hook/capture/step_counter.h"
#include "trainwarden/hook.h"

namespace trainwarden {

class Hook::Impl {
 public:
  explicit Impl(HookOptions hook_options, std::string reason = {})
      : options(std::move(hook_options)), off_reason(std::move(reason)) {
    counter.start_at(options.first_global_step, options.first_mode_steps);
  }
  // A session that belongs to the parent process, or whose thread is stuck, is left as it is.
  ~Impl() {
    if (in_forked_child() || (session != nullptr && session->stuck())) static_cast<void>(session.release());
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  bool in_forked_child() const { return fork_generation != capture::fork_generation(); }
  // nullptr when every call is a no-op.
  capture::CaptureSession* live() const { return in_forked_child() ? nullptr : session.get(); }

  // Calls `function` with the live session, if there is one. Memory that runs out is a counted loss, any other fault
  // switches the hook off. False after a fault.
  template <class Function>
  bool guarded(Function function) const noexcept;

  const HookOptions options;
  const std::string off_reason;  // of a hook without a session
  capture::StepCounter counter;
  std::unique_ptr<capture::CaptureSession> session;  // none in a disabled hook
  const std::uint32_t fork_generation = capture::fork_generation();

 private:
  static void contain(capture::CaptureSession& session, const char* fault) noexcept;
  static void count_out_of_memory(capture::CaptureSession& session) noexcept;
};

template <class Function>
bool Hook::Impl::guarded(Function function) const noexcept {
  capture::CaptureSession* const live_session = live();
  if (live_session == nullptr) return true;
  try {
    function(*live_session);
    return true;
  } catch (const std::bad_alloc&) {
    count_out_of_memory(*live_session);
  } catch (const std::exception& error) {
    contain(*live_session, error.what());
  } catch (...) {
    contain(*live_session, "unknown");
  }
  return false;
}

}  // namespace trainwarden
