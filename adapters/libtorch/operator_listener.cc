// OperatorListener: one callback a thread, for all of its listeners.
#include "operator_listener.h"

#include "faults.h"

namespace trainwarden::torch {

// What a thread knows of its operators. Trivially destructible, since operators may run after a thread's variables are
// gone.
class OperatorStream {
 public:
  static OperatorStream& of_this_thread() {
    thread_local OperatorStream stream;
    return stream;
  }

  void add(OperatorListener& listener) {
    OperatorListener** end = &first_;
    while (*end != nullptr) end = &(*end)->next_;
    *end = &listener;
    if (first_ != &listener) return;
    at::RecordFunctionCallback callback(on_start, on_end);
    callback.needsInputs(true).needsOutputs(true);
    callback.scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION});
    callback_ = at::addThreadLocalCallback(callback);
  }

  void remove(OperatorListener& listener) {
    OperatorListener** place = &first_;
    while (*place != nullptr && *place != &listener) place = &(*place)->next_;
    if (*place == nullptr) return;
    *place = listener.next_;
    listener.next_ = nullptr;
    if (first_ == nullptr) at::removeCallback(callback_);
  }

  std::uint64_t heard() const { return heard_; }

 private:
  static std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function);
  static void on_end(const at::RecordFunction& function, at::ObserverContext* context);

  OperatorListener* first_ = nullptr;
  at::CallbackHandle callback_ = at::INVALID_CALLBACK_HANDLE;
  std::uint64_t heard_ = 0;
  int backward_depth_ = 0;  // of backward functions that are running
  bool in_call_ = false;    // what runs now is part of a call that is watched
};

std::unique_ptr<at::ObserverContext> OperatorStream::on_start(const at::RecordFunction& function) {
  OperatorStream& stream = of_this_thread();
  ++stream.heard_;
  if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    ++stream.backward_depth_;
    return nullptr;
  }
  if (stream.in_call_ || stream.backward_depth_ > 0) return nullptr;
  std::unique_ptr<OperatorCall> call;
  without_throwing("capture what goes into an operator", [&] {
    for (OperatorListener* listener = stream.first_; listener != nullptr && call == nullptr;
         listener = listener->next_) {
      call = listener->begin_call(function);
    }
  });
  stream.in_call_ = call != nullptr;
  return call;
}

void OperatorStream::on_end(const at::RecordFunction& function, at::ObserverContext* context) {
  OperatorStream& stream = of_this_thread();
  if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    --stream.backward_depth_;
    return;
  }
  if (context == nullptr) return;
  stream.in_call_ = false;
  without_throwing("capture what comes out of an operator",
                   [&] { static_cast<OperatorCall&>(*context).end(function); });
}

OperatorListener::~OperatorListener() {
  stop();
}

void OperatorListener::listen() {
  if (!listening_) OperatorStream::of_this_thread().add(*this);
  listening_ = true;
}

void OperatorListener::stop() {
  if (listening_) OperatorStream::of_this_thread().remove(*this);
  listening_ = false;
}

std::uint64_t count_operators_heard() {
  return OperatorStream::of_this_thread().heard();
}

void append_tensors(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) tensors.push_back(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      if (tensor.defined()) tensors.push_back(tensor);
    }
  }
}

}  // namespace trainwarden::torch
