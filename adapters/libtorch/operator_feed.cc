// OperatorFeed: one callback for the process. Compiled with NDEBUG (operator_listener.h).
#include "operator_feed.h"

#include <ATen/record_function.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "trainwarden/operator_recorder.h"

namespace trainwarden::torch {
namespace {

std::mutex callback_mutex;
at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;  // guarded by callback_mutex; there while a recorder is
std::atomic<OperatorRecorder*> fed_recorder = nullptr;      // changed under callback_mutex

OperatorKind kind_of(at::RecordScope scope) {
  switch (scope) {
    case at::RecordScope::BACKWARD_FUNCTION: return OperatorKind::kBackward;
    case at::RecordScope::USER_SCOPE: return OperatorKind::kUser;
    default: return OperatorKind::kOperator;
  }
}

std::unique_ptr<at::ObserverContext> operator_begins(const at::RecordFunction& function) {
  if (OperatorRecorder* const recorder = fed_recorder.load(std::memory_order_acquire)) {
    recorder->begin(&function, function.name(), kind_of(function.scope()), function.seqNr());
  }
  return nullptr;
}

void operator_ends(const at::RecordFunction& function, at::ObserverContext*) {
  if (OperatorRecorder* const recorder = fed_recorder.load(std::memory_order_acquire)) recorder->end(&function);
}

at::RecordFunctionCallback operator_callback() {
  at::RecordFunctionCallback made(operator_begins, operator_ends);
  made.scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE});
  return made;
}

}  // namespace

void OperatorFeed::change() {
  if (fed_ != nullptr) return stop();
  const std::lock_guard lock(callback_mutex);
  const OperatorRecorder* const before = fed_recorder.load(std::memory_order_relaxed);
  if (before != nullptr && before->is_recording()) return;
  if (before == nullptr) callback = at::addGlobalCallback(operator_callback());
  fed_ = &hook_.operators();
  fed_recorder.store(fed_, std::memory_order_release);
}

// Threads that are inside an operator end it afterwards: the functions are still there, and the recorder too.
void OperatorFeed::stop() {
  if (fed_ == nullptr) return;
  const OperatorRecorder* const mine = std::exchange(fed_, nullptr);
  const std::lock_guard lock(callback_mutex);
  if (fed_recorder.load(std::memory_order_relaxed) != mine) return;
  at::removeCallback(callback);
  fed_recorder.store(nullptr, std::memory_order_release);
}

}  // namespace trainwarden::torch
