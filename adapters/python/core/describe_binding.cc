// describe() in Python. trainwarden/describing.py has what users see.
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "errors.h"
#include "python_trial.h"
#include "trainwarden/describe.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;

std::string description_of(const std::string& run_dir) {
  return value_or_raise([&] {
    const nb::gil_scoped_release released;
    return describe_json(run_dir);
  }());
}

}  // namespace

void bind_describe(nb::module_& module) {
  module.def("describe_json", description_of, "Everything about a run, as JSON.", nb::arg("run_dir"));
}

}  // namespace trainwarden::python
