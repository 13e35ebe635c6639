// Frame variables: what the variables of a running function hold, read without a trace.
#pragma once

#include <nanobind/nanobind.h>

namespace trainwarden::python {

// Adds frame_variables() to the module.
void bind_frame_variables(nanobind::module_& module);

}  // namespace trainwarden::python
