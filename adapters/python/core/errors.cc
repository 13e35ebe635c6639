#include "errors.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

namespace trainwarden::python {

void raise(const Status& status) {
  namespace nb = nanobind;
  if (status.code() == Code::kCancelled) raise_signals();  // Ctrl-C is what ended it
  const nb::object error =
      nb::module_::import_("trainwarden.errors").attr("error_of")(name(status.code()), status.message());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

}  // namespace trainwarden::python
