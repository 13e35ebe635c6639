// OperatorFeed: tells a hook of the operators that PyTorch runs. Built without PyTorch's headers: one wheel is for all
// of its versions.
#pragma once

#include <nanobind/nanobind.h>

namespace trainwarden::python {

// Adds feed_operators() and what belongs to it to the module; operator_feed.cc says what they do.
void bind_operator_feed(nanobind::module_& module);

}  // namespace trainwarden::python
