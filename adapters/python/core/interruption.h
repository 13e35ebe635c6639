// Interruption: lets Ctrl-C and errors of callbacks end what works without the GIL.
#pragma once

#include <chrono>
#include <exception>
#include <stop_token>
#include <utility>

#include <nanobind/nanobind.h>

#include "errors.h"

namespace trainwarden::python {

// What a signal's handler or a callback raised meanwhile: the work leaves off by its stop token, and who called it
// raises it. One thread at a time.
class Interruption {
 public:
  std::stop_token token() const { return stop_.get_token(); }

  // Calls into Python, from code that does not hold the GIL.
  template <class Call>
  void guard(Call call) {
    if (raised_) return;
    const nanobind::gil_scoped_acquire gil;
    try {
      call();
    } catch (...) {
      raised_ = std::current_exception();
      stop_.request_stop();
    }
  }
  // Lets Ctrl-C in; cheap when it is too early for another look.
  void look() {
    constexpr std::chrono::milliseconds kInterval{50};
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look_) return;
    next_look_ = now + kInterval;
    guard([] { raise_signals(); });
  }
  void rethrow() {
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
  }

 private:
  std::stop_source stop_;
  std::exception_ptr raised_;
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace trainwarden::python
