// Living objects: those that the garbage collector knows, by their class.
//
// gc.get_objects() refers to all of them, also to tensors that belong to PyTorch's core alone and that a backward pass
// in another thread is about to drop: PyTorch warns of that on standard error. So the list is gone before the
// interpreter lets another thread run, which it does between two instructions of Python, and not in here.
#include "living_objects.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;

nb::list living_objects(const nb::type_object& kind) {
  const nb::object all = nb::module_::import_("gc").attr("get_objects")();
  auto* const wanted = reinterpret_cast<PyTypeObject*>(kind.ptr());
  nb::list found;
  const Py_ssize_t count = PyList_Size(all.ptr());
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const object = PyList_GetItem(all.ptr(), i);
    // By its type: the object itself may be a proxy with a will of its own.
    if (PyType_IsSubtype(Py_TYPE(object), wanted) != 0) found.append(nb::handle(object));
  }
  return found;
}

}  // namespace

void bind_living_objects(nb::module_& module) {
  module.def("living_objects", living_objects, nb::arg("kind"),
             nb::sig("def living_objects(kind: type) -> list[object]"),
             "For adapters: the objects of this class, or of one derived from it, that are alive now and that the "
             "garbage collector knows.");
}

}  // namespace trainwarden::python
