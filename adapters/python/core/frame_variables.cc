// Before Python 3.13 `frame.f_locals` of a function writes all variables into the one dict that locals() gives the
// program, which sees them there. So the variables are read where the interpreter keeps them, by the layout of each
// version: that of 3.9 to 3.11 is frozen in their headers, 3.12 has a function for it, and from 3.13 on f_locals is a
// view.
#include "frame_variables.h"

#include <dlfcn.h>

#include <frameobject.h>

#if !defined(Py_LIMITED_API) && PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
#define Py_BUILD_CORE 1
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#endif

namespace trainwarden::python {
namespace {

namespace nb = nanobind;

#if !defined(Py_LIMITED_API) && PY_VERSION_HEX < 0x030C0000

void put(nb::dict& variables, PyObject* name, PyObject* value) {
  if (value != nullptr && PyDict_SetItem(variables.ptr(), name, value) != 0) nb::raise_python_error();
}

// The value in a cell; the value itself where the function has not made its cells yet.
PyObject* in_cell(PyObject* value) {
  return value != nullptr && Py_TYPE(value) == &PyCell_Type ? PyCell_GET(value) : value;
}

#endif

#if !defined(Py_LIMITED_API) && PY_VERSION_HEX < 0x030B0000

void read_names(nb::dict& variables, PyObject* names, PyObject* const* values, bool are_cells) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    put(variables, PyTuple_GET_ITEM(names, i), are_cells ? in_cell(values[i]) : values[i]);
  }
}

nb::dict read(PyObject* frame) {
  nb::dict variables;
  PyFrameObject* const running = reinterpret_cast<PyFrameObject*>(frame);
  PyCodeObject* const code = running->f_code;
  PyObject* const* values = running->f_localsplus;
  read_names(variables, code->co_varnames, values, false);
  values += code->co_nlocals;
  read_names(variables, code->co_cellvars, values, true);
  values += PyTuple_GET_SIZE(code->co_cellvars);
  read_names(variables, code->co_freevars, values, true);
  return variables;
}

#elif !defined(Py_LIMITED_API) && PY_VERSION_HEX < 0x030C0000

nb::dict read(PyObject* frame) {
  nb::dict variables;
  _PyInterpreterFrame* const running = reinterpret_cast<PyFrameObject*>(frame)->f_frame;
  PyCodeObject* const code = running->f_code;
  for (int i = 0; i < code->co_nlocalsplus; ++i) {
    PyObject* value = running->localsplus[i];
    if ((_PyLocals_GetKind(code->co_localspluskinds, i) & (CO_FAST_CELL | CO_FAST_FREE)) != 0) value = in_cell(value);
    put(variables, PyTuple_GET_ITEM(code->co_localsplusnames, i), value);
  }
  return variables;
}

#else

using GetVar = PyObject*(PyObject* frame, PyObject* name);

void read_names(nb::dict& variables, GetVar* get, nb::handle frame, nb::object names) {
  for (nb::handle name : names) {
    PyObject* const value = get(frame.ptr(), name.ptr());
    if (value == nullptr) PyErr_Clear();  // it has no value yet, or no more
    if (value != nullptr) variables[name] = nb::steal(value);
  }
}

nb::dict read(PyObject* frame) {
  static GetVar* const get = reinterpret_cast<GetVar*>(::dlsym(RTLD_DEFAULT, "PyFrame_GetVar"));
  nb::handle running = frame;
  nb::dict variables;
  if (Py_Version >= 0x030D0000 || get == nullptr) {
    if (Py_Version >= 0x030D0000) variables.update(running.attr("f_locals"));
    return variables;
  }
  nb::object code = running.attr("f_code");
  for (const char* names : {"co_varnames", "co_cellvars", "co_freevars"})
    read_names(variables, get, running, code.attr(names));
  return variables;
}

#endif

bool has_fast_variables(nb::handle frame) {
  constexpr int kOptimized = 0x0001;  // CO_OPTIMIZED
  return (nb::cast<int>(frame.attr("f_code").attr("co_flags")) & kOptimized) != 0;
}

nb::dict frame_variables(nb::handle frame) {
  if (!frame.type().is(nb::module_::import_("types").attr("FrameType"))) {
    throw nb::type_error("frame_variables: expected a frame");
  }
  if (has_fast_variables(frame)) return read(frame.ptr());
  nb::dict variables;  // a module's, or a class's: f_locals is where the program keeps them
  variables.update(nb::dict(frame.attr("f_locals")));
  return variables;
}

}  // namespace

void bind_frame_variables(nb::module_& module) {
  module.def(
      "frame_variables", frame_variables, nb::arg("frame"),
      nb::sig("def frame_variables(frame: types.FrameType) -> dict[str, object]"),
      "The variables of a frame by name, in a dict of the caller's own. The dict that locals() gave the program stays "
      "as it is, which reading frame.f_locals before Python 3.13 does not leave alone.");
}

}  // namespace trainwarden::python
