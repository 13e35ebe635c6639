// Gate(through, ours, behind=None): what is called calls `through`, a function of somebody else's, with the same
// arguments, or `ours`, which is a function of Python's around it. Without `through` it gives None, as a hook does that
// does nothing. Which of the two is for the object to say that comes first in the arguments, the `self` of a method or
// what a hook is called for. Written against Python's own interface, as a call through nanobind costs several
// times as much as all that happens here; against its stable part, for a wheel that fits Python 3.12 and all later
// ones.
//
//   look_at(None)           every call is for `ours`; so it is at first
//   look_at(ids)            only those are whose first argument has one of these ids
//   note_in_training(ids, may_pass)
//                           those of these objects pass while their attribute `training` is true and may_pass() gives
//                           True, and are only noted: take_noted() says whether there was one since the last time
//   count(id, thread, end, late, noting)
//                           calls in this thread with this object alone pass, and then end() is called. When it gives
//                           True the gate `noting` forgets what it has noted, else late(object) is called. id 0: none
//                           is counted. Without `end` they pass only. With a gate `behind`, one that stands before
//                           it, those are counted alone that have passed there
//
// A hook is called with its object, a tuple of all arguments and a dict: the object is alone when no other is in these.
//
// Needs the GIL, as all of Python.
#include "gate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <structmember.h>

namespace trainwarden::python {
namespace {

using Id = std::uintptr_t;

// Of few objects, mostly one or two.
class Ids {
 public:
  bool holds(Id id) const { return std::find(ids_.begin(), ids_.end(), id) != ids_.end(); }
  // False when these are no numbers; Python's error is set then.
  bool read(PyObject* iterable) {
    std::vector<Id> read;
    PyObject* const list = PySequence_List(iterable);
    if (list == nullptr) return false;
    for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
      read.push_back(reinterpret_cast<Id>(PyLong_AsVoidPtr(PyList_GetItem(list, i))));
    }
    Py_DECREF(list);
    if (PyErr_Occurred() != nullptr) return false;
    ids_ = std::move(read);
    return true;
  }

 private:
  std::vector<Id> ids_;
};

// What a gate looks at. Apart from the object, which is Python's to make.
struct Looks {
  bool at_all = true;
  Ids at;
  Ids in_training;
  bool noted = false;
  Id counted = 0;
  unsigned long thread = 0;
  bool passed = false;  // the last call of the counted object
};

struct Gate {
  PyObject head;
  vectorcallfunc call;
  PyObject* attributes;
  PyObject* weak_references;
  PyObject* through;
  PyObject* ours;
  PyObject* end;
  PyObject* late;
  PyObject* noting;
  PyObject* behind;
  PyObject* may_pass;
  Looks* looks;
};

PyObject* new_ref(PyObject* object) {  // Python has it since 3.10
  Py_INCREF(object);
  return object;
}

PyObject* training_text = nullptr;  // "training"
PyObject* method_type = nullptr;    // types.MethodType; the stable interface has no PyMethod_New()

Gate& gate_of(PyObject* self) {
  return *reinterpret_cast<Gate*>(self);
}

void replace(PyObject*& place, PyObject* value) {
  PyObject* const before = std::exchange(place, value);
  Py_XDECREF(before);
}

bool is_training(PyObject* object) {
  PyObject* const training = PyObject_GetAttr(object, training_text);
  if (training == nullptr) PyErr_Clear();  // then it is for `ours` to say
  const bool answer = training == Py_True;
  Py_XDECREF(training);
  return answer;
}

// False for an error, too: then it is for `ours` to meet it.
bool may_pass(const Gate& gate) {
  PyObject* const answer = PyObject_CallNoArgs(gate.may_pass);
  if (answer == nullptr) PyErr_Clear();
  const bool passes = answer == Py_True;
  Py_XDECREF(answer);
  return passes;
}

// A call that has returned is counted. nullptr when that raises what is the program's, as a request to stop does.
PyObject* counted(Gate& gate, PyObject* object, PyObject* result) {
  PyObject* const end = new_ref(gate.end);
  PyObject* const late = new_ref(gate.late);
  PyObject* answer = PyObject_CallNoArgs(end);
  if (answer == Py_False) {
    Py_DECREF(answer);
    answer = PyObject_CallFunctionObjArgs(late, object, nullptr);
  } else if (answer != nullptr) {
    gate_of(gate.noting).looks->noted = false;
  }
  Py_DECREF(end);
  Py_DECREF(late);
  if (answer == nullptr) Py_CLEAR(result);
  Py_XDECREF(answer);
  return result;
}

PyObject* pass(const Gate& gate, PyObject* const* arguments, std::size_t count_and_flag, PyObject* names) {
  if (gate.through == Py_None) return new_ref(Py_None);
  return PyObject_Vectorcall(gate.through, arguments, count_and_flag, names);
}

bool is_alone(PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  if (names != nullptr) return false;
  return count == 1 || (count == 3 && PyTuple_Check(arguments[1]) && PyTuple_Size(arguments[1]) == 1 &&
                        PyDict_Check(arguments[2]) && PyDict_Size(arguments[2]) == 0);
}

bool is_counted(const Gate& gate, Id id) {
  const Looks& looks = *gate.looks;
  return looks.counted == id && id != 0 && looks.thread == PyThread_get_thread_ident() &&
         (gate.behind == Py_None || gate_of(gate.behind).looks->passed);
}

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t count_and_flag, PyObject* names) {
  Gate& gate = gate_of(self);
  Looks& looks = *gate.looks;
  const Py_ssize_t count = PyVectorcall_NARGS(count_and_flag);
  PyObject* const first = count > 0 ? arguments[0] : nullptr;
  const Id id = reinterpret_cast<Id>(first);
  if (looks.at_all || looks.at.holds(id)) {
    looks.passed = is_counted(gate, id) && is_alone(arguments, count, names);
    if (looks.passed) {
      PyObject* const result = pass(gate, arguments, count_and_flag, names);
      // What happened inside may have changed what is counted.
      const bool ends = result != nullptr && looks.counted == id && gate.end != Py_None;
      return ends ? counted(gate, first, result) : result;
    }
    if (first == nullptr || !looks.in_training.holds(id) || !is_training(first) || !may_pass(gate)) {
      return PyObject_Vectorcall(gate.ours, arguments, count_and_flag, names);
    }
    looks.noted = true;
  }
  return pass(gate, arguments, count_and_flag, names);
}

PyObject* look_at(PyObject* self, PyObject* ids) {
  Looks& looks = *gate_of(self).looks;
  if (ids != Py_None && !looks.at.read(ids)) return nullptr;
  looks.at_all = ids == Py_None;
  Py_RETURN_NONE;
}

PyObject* note_in_training(PyObject* self, PyObject* arguments) {
  Gate& gate = gate_of(self);
  PyObject* ids = nullptr;
  PyObject* may_pass = nullptr;
  if (PyArg_ParseTuple(arguments, "OO:note_in_training", &ids, &may_pass) == 0) return nullptr;
  if (!gate.looks->in_training.read(ids)) return nullptr;
  replace(gate.may_pass, new_ref(may_pass));
  Py_RETURN_NONE;
}

PyObject* take_noted(PyObject* self, PyObject*) {
  return PyBool_FromLong(std::exchange(gate_of(self).looks->noted, false));
}

PyObject* count(PyObject* self, PyObject* arguments) {
  Gate& gate = gate_of(self);
  PyObject* id = nullptr;
  PyObject* end = nullptr;
  PyObject* late = nullptr;
  PyObject* noting = nullptr;
  unsigned long thread = 0;
  if (PyArg_ParseTuple(arguments, "OkOOO!:count", &id, &thread, &end, &late, Py_TYPE(self), &noting) == 0)
    return nullptr;
  const Id counted = reinterpret_cast<Id>(PyLong_AsVoidPtr(id));
  if (PyErr_Occurred() != nullptr) return nullptr;
  gate.looks->counted = counted;
  gate.looks->thread = thread;
  replace(gate.end, new_ref(end));
  replace(gate.late, new_ref(late));
  replace(gate.noting, new_ref(noting));
  Py_RETURN_NONE;
}

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* names) {
  PyObject* through = nullptr;
  PyObject* ours = nullptr;
  PyObject* behind = Py_None;
  static const char* const keywords[] = {"through", "ours", "behind", nullptr};
  if (PyArg_ParseTupleAndKeywords(arguments, names, "OO|O:Gate", const_cast<char**>(keywords), &through, &ours,
                                  &behind) == 0) {
    return nullptr;
  }
  if (behind != Py_None && Py_TYPE(behind) != type) {
    PyErr_SetString(PyExc_TypeError, "Gate: behind: expected a gate or None");
    return nullptr;
  }
  PyObject* const self = PyType_GenericAlloc(type, 0);
  if (self == nullptr) return nullptr;
  Gate& gate = gate_of(self);
  gate.looks = new (std::nothrow) Looks();
  if (gate.looks == nullptr) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  gate.call = call;
  gate.through = new_ref(through);
  gate.ours = new_ref(ours);
  gate.behind = new_ref(behind);
  return self;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  const Gate& gate = gate_of(self);
  Py_VISIT(Py_TYPE(self));
  for (PyObject* const each :
       {gate.attributes, gate.through, gate.ours, gate.end, gate.late, gate.noting, gate.behind, gate.may_pass})
    Py_VISIT(each);
  return 0;
}

int clear(PyObject* self) {
  Gate& gate = gate_of(self);
  for (PyObject** const each : {&gate.attributes, &gate.through, &gate.ours, &gate.end, &gate.late, &gate.noting,
                                &gate.behind, &gate.may_pass}) {
    replace(*each, nullptr);
  }
  return 0;
}

void destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (gate_of(self).weak_references != nullptr) PyObject_ClearWeakRefs(self);
  clear(self);
  delete gate_of(self).looks;
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

// A gate in a class is a method, as a function is.
PyObject* bind_to(PyObject* self, PyObject* object, PyObject*) {
  return object == nullptr ? new_ref(self) : PyObject_CallFunctionObjArgs(method_type, self, object, nullptr);
}

PyMethodDef methods[] = {
    {"look_at", look_at, METH_O,
     "look_at($self, ids, /)\n--\n\nWhich calls are ours: of the objects with these ids; "
     "None: all."},
    {"note_in_training", note_in_training, METH_VARARGS,
     "note_in_training($self, ids, may_pass, /)\n--\n\nOf which objects a call in training mode is only noted, while "
     "may_pass() gives True."},
    {"take_noted", take_noted, METH_NOARGS, "take_noted($self, /)\n--\n\nWas a call noted since the last time?"},
    {"count", count, METH_VARARGS,
     "count($self, id, thread, end, late, noting, /)\n--\n\nCalls with this object alone pass, and then end() is "
     "called; "
     "late(object) when that gives False, else `noting` forgets what it has noted."},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Gate, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Gate, weak_references), READONLY, nullptr},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Gate, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void bind_gate(nanobind::module_& module) {
  namespace nb = nanobind;
  static const std::string name = nb::cast<std::string>(module.attr("__name__")) + ".Gate";
  PyType_Slot slots[] = {
      {Py_tp_new, slot(make)},
      {Py_tp_dealloc, slot(destroy)},
      {Py_tp_traverse, slot(traverse)},
      {Py_tp_clear, slot(clear)},
      {Py_tp_call, slot(PyVectorcall_Call)},
      {Py_tp_descr_get, slot(bind_to)},
      {Py_tp_methods, methods},
      {Py_tp_members, members},
      {Py_tp_getset, attributes},
      {0, nullptr},
  };
  PyType_Spec spec{name.c_str(), sizeof(Gate), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
                   slots};
  if (training_text == nullptr) training_text = PyUnicode_InternFromString("training");
  if (method_type == nullptr)
    method_type = nb::object(nb::module_::import_("types").attr("MethodType")).release().ptr();
  PyObject* const type = PyType_FromSpec(&spec);
  if (training_text == nullptr || type == nullptr) throw nb::python_error();
  module.attr("Gate") = nb::steal(type);
}

}  // namespace trainwarden::python
