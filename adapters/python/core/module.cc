// The module trainwarden._core.
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include "bucket_library.h"
#include "frame_variables.h"
#include "gate.h"
#include "living_objects.h"
#include "operator_feed.h"
#include "python_control.h"
#include "python_hook.h"
#include "python_trial.h"
#include "stack_sampler.h"
#include "tensor_argument.h"
#include "trainwarden/version.h"

NB_MODULE(_core, module) {
  namespace nb = nanobind;
  using namespace trainwarden;
  // A program may end with hooks alive (os._exit, a thread that never ends); that is no affair of its output.
  nb::set_leak_warnings(false);
  module.doc() = "The compiled core of trainwarden. Use the package trainwarden; this module may change.";
  module.def("version", version, "The version of the library.");
  module.def(
      "dtype_code",
      [](std::string_view name) {
        const auto dtype = python::dtype_of_name(name);
        if (dtype && *dtype != DType::kString) return static_cast<int>(*dtype);
        throw nb::value_error(("there is no dtype \"" + std::string(name) + "\" of numbers").c_str());
      },
      nb::arg("name"), "The number of a dtype: \"float32\", \"torch.bfloat16\", \"float8_e4m3fn\", ...");
  python::bind_hook_records(module);
  python::bind_hook(module);
  python::bind_tensor_batch(module);
  python::bind_gate(module);
  python::bind_frame_variables(module);
  python::bind_living_objects(module);
  python::bind_operator_feed(module);
  python::bind_stack_sampler(module);
  python::bind_statistics(module);
  python::bind_trial(module);
  python::bind_rules(module);
  python::bind_describe(module);
  python::bind_transfer(module);
  python::bind_control(module);
  python::bind_answers(module);
  python::bind_places(module);
  python::use_bucket_library();
}
