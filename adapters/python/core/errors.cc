#include "errors.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

namespace trainwarden::python {

void raise(const Status& status) {
  namespace nb = nanobind;
  const nb::object error =
      nb::module_::import_("trainwarden.errors").attr("error_of")(name(status.code()), status.message());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

}  // namespace trainwarden::python
