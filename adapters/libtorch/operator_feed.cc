#include "operator_feed.h"

#include <atomic>

#include "trainwarden/operator_recorder.h"

namespace trainwarden::torch {
namespace {

std::atomic<OperatorRecorder*> fed_recorder = nullptr;

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

}  // namespace

void OperatorFeed::change() {
  if (is_feeding()) return stop();
  OperatorRecorder* nobody = nullptr;
  if (!fed_recorder.compare_exchange_strong(nobody, &hook_.operators())) return;
  at::RecordFunctionCallback callback(operator_begins, operator_ends);
  callback.scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE});
  callback_ = at::addGlobalCallback(callback);
}

// Threads that are inside an operator end it afterwards: the functions are still there, and the recorder too.
void OperatorFeed::stop() {
  if (!is_feeding()) return;
  at::removeCallback(callback_);
  callback_ = at::INVALID_CALLBACK_HANDLE;
  fed_recorder.store(nullptr, std::memory_order_release);
}

}  // namespace trainwarden::torch
