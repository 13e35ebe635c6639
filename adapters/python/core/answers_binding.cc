// What the page's server answers, in Python. trainwarden/notebook/run_answers.py has what views use.
#include <memory>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "errors.h"
#include "python_trial.h"
#include "ui/answers/answers.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;
using answers::Answers;

std::unique_ptr<Answers> open_answers(const std::string& run_dir) {
  return value_or_raise([&] {
    const nb::gil_scoped_release released;
    return Answers::open(run_dir);
  }());
}

std::uint64_t version_of(Answers& answers) {
  return value_or_raise([&] {
    const nb::gil_scoped_release released;
    return answers.version();
  }());
}

nb::tuple ask(Answers& answers, const std::string& address) {
  const answers::Answer answer = value_or_raise([&] {
    const nb::gil_scoped_release released;
    return answers.ask(address);
  }());
  return nb::make_tuple(answer.type, nb::bytes(answer.body->data(), answer.body->size()));
}

}  // namespace

void bind_answers(nb::module_& module) {
  nb::class_<Answers>(module, "Answers", "What the page's server answers about one run, without a server.")
      .def_static("open", open_answers, nb::arg("run_dir"))
      .def_prop_ro("run_id", &Answers::run_id, "What stands for {run} in addresses.")
      .def("version", version_of, "Grows whenever the run has news. Looks for them.")
      .def("ask", ask, nb::arg("address"), nb::sig("def ask(self, address: str) -> tuple[str, bytes]"),
           "The type and the body of the answer to a GET below /api/v1.");
}

}  // namespace trainwarden::python
