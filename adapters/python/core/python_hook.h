// PythonHook: a hook as Python threads use it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <nanobind/nanobind.h>

#include "trainwarden/hook.h"
#include "turn.h"

namespace trainwarden::python {

// Copying less than this takes about as long as handing the GIL over; more lets other threads of Python run.
inline constexpr std::size_t kReleaseBytes = std::size_t{1} << 20;

class PythonHook {
 public:
  explicit PythonHook(std::unique_ptr<Hook> hook)
      : hook_(std::move(hook)), may_wait_(hook_->options().when_full == WhenFull::kBlock) {}

  // Closes the hook, which may wait for the disk.
  ~PythonHook() {
    const nanobind::gil_scoped_release no_gil;
    hook_.reset();
  }
  PythonHook(const PythonHook&) = delete;
  PythonHook& operator=(const PythonHook&) = delete;

  Hook& hook() const { return *hook_; }
  // Of those calls that belong to the one thread that drives training: others wait for their turn.
  TurnMutex& turn() { return turn_; }

  bool guarded() const { return guarded_; }
  void set_guarded() { guarded_ = true; }

  // Calls `save` for tensors of this many bytes, without the GIL where it may take long.
  template <class Save>
  void offer(std::size_t bytes, Save save) {
    if (bytes < kReleaseBytes && !may_wait_) return save(*hook_);
    const nanobind::gil_scoped_release no_gil;
    save(*hook_);
  }
  // The same for what waits only when the user chose that training waits for the writer.
  template <class Call>
  auto call(Call call) {
    if (!may_wait_) return call(*hook_);
    const nanobind::gil_scoped_release no_gil;
    return call(*hook_);
  }

 private:
  std::unique_ptr<Hook> hook_;
  const bool may_wait_;
  bool guarded_ = false;  // rules may judge inside the training
  TurnMutex turn_;
};

// The parts of the module.
void bind_hook_records(nanobind::module_& module);
void bind_hook(nanobind::module_& module);
void bind_hook_parts(nanobind::class_<PythonHook>& type);
void bind_tensor_batch(nanobind::module_& module);

}  // namespace trainwarden::python
