// The part of the module that asks trainings to stop and to save.
#pragma once

#include <nanobind/nanobind.h>

namespace trainwarden::python {

void bind_control(nanobind::module_& module);

}  // namespace trainwarden::python
