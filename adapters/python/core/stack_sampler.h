// StackSampler: takes samples of the stacks of all Python threads for a hook's OperatorRecorder.
#pragma once

#include <nanobind/nanobind.h>

namespace trainwarden::python {

void bind_stack_sampler(nanobind::module_& module);

}  // namespace trainwarden::python
