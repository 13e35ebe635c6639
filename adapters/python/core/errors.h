// Statuses as Python exceptions (trainwarden/errors.py has the types).
#pragma once

#include <utility>

#include <nanobind/nanobind.h>

#include "trainwarden/status.h"

namespace trainwarden::python {

// Throws what nanobind hands to Python as the exception of the status's code. Needs the GIL.
[[noreturn]] void raise(const Status& status);

inline void raise_if_error(const Status& status) {
  if (!status.ok()) raise(status);
}

template <class T>
T value_or_raise(Result<T> result) {
  if (!result.ok()) raise(result.status());
  return std::move(result).value();
}

// Lets Ctrl-C end a wait: throws when a handler of a signal raised.
inline void raise_signals() {
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace trainwarden::python
