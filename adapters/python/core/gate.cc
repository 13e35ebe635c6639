// Gate(through, begins, ends=None, fails=None, behind=None): what is called calls `through`, a function of somebody
// else's, with the same arguments. A call that is looked at calls begins(*arguments) first. When that gives None,
// nothing more happens. Else ends(note, result) follows a call that has returned and fails(note) one that has raised,
// where `note` is what begins() gave; a tuple (note, args, kwargs) of it also replaces the arguments. Both have
// returned before `through` is called, and after: no frame of ours lies in the stack of what is called, so that its
// tracebacks, its warnings and its depth of recursion are what they are without us. Without `through` a call that is
// looked at gives what begins() gives, and any other None, as a hook does that does nothing. Which calls are looked at
// is for the object to say that comes first in the arguments, the `self` of a method or what a hook is called for.
// Written against Python's own interface, as a call through nanobind costs several times as much as all that happens
// here; against its stable part, for a wheel that fits Python 3.12 and all later ones.
//
// A gate passes for the function that it stands in for: isinstance(), inspect and attributes such as __code__ give that
// one's answers, and a pickle holds how that one is found (set_reduced).
//
//   look_at(None)           every call is looked at; so it is at first
//   look_at(ids)            only those whose first argument has one of these ids
//   look_at_kind(type)      also those whose first argument is of this type; None: no more
//   note_in_training(ids, may_pass)
//                           those of these objects pass while their `training` is true and may_pass() gives True, and
//                           are only noted: take_noted() says whether there was one since the last time. Where
//                           may_pass() gives False the first ones are looked at, and the others only counted:
//                           take_refused()
//   count(ids, thread, end, late, noting)
//                           calls in this thread with one of these objects alone pass, and once each has been called
//                           in this order end() is called. When it gives True the gate `noting` forgets what it has
//                           noted, else late(object) is called, and so it is after a call out of order: take_passed()
//                           says how many have passed by then. No ids: none is counted. Without `end` they pass only.
//                           With a gate `behind`, one that stands before it, those are counted alone that have passed
//                           there
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

#include <dlfcn.h>

#include <nanobind/stl/string.h>
#include <structmember.h>

namespace trainwarden::python {
namespace {

using Id = std::uintptr_t;

// Of few objects, mostly one or two.
class Ids {
 public:
  bool holds(Id id) const { return std::find(ids_.begin(), ids_.end(), id) != ids_.end(); }
  Id at(std::size_t place) const { return ids_[place]; }
  std::size_t size() const { return ids_.size(); }
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
  PyTypeObject* kind = nullptr;  // a strong reference
  bool noted = false;
  std::uint64_t refused = 0;  // since they were taken
  Ids counted;                // in the order of their calls
  std::size_t position = 0;   // how many of them have been called since end() was
  unsigned long thread = 0;
  bool passed = false;  // the last call of a counted object
};

struct Gate {
  PyObject head;
  vectorcallfunc call;
  PyObject* attributes;
  PyObject* weak_references;
  PyObject* through;
  PyObject* begins;
  PyObject* ends;
  PyObject* fails;
  PyObject* reduced;
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

// So many calls that may_pass() refuses are looked at before the others are only counted.
constexpr std::uint64_t kMaxRefusedTold = 64;

PyObject* training_text = nullptr;  // "training"
PyObject* dict_text = nullptr;      // "__dict__"
PyObject* class_text = nullptr;     // "__class__"
PyObject* method_type = nullptr;    // types.MethodType; the stable interface has no PyMethod_New()

Gate& gate_of(PyObject* self) {
  return *reinterpret_cast<Gate*>(self);
}

void replace(PyObject*& place, PyObject* value) {
  PyObject* const before = std::exchange(place, value);
  Py_XDECREF(before);
}

// Read where a module keeps it: a property or a __getattr__ of the program's own is not called.
bool is_training(PyObject* object) {
  PyObject* const attributes = PyObject_GenericGetAttr(object, dict_text);
  if (attributes == nullptr) PyErr_Clear();  // then it is for begins() to say
  PyObject* const training = attributes != nullptr && PyDict_CheckExact(attributes)
                                 ? PyDict_GetItemWithError(attributes, training_text)
                                 : nullptr;
  if (training == nullptr) PyErr_Clear();
  const bool answer = training == Py_True;
  Py_XDECREF(attributes);
  return answer;
}

// False for an error, too: then it is for begins() to meet it.
bool may_pass(const Gate& gate) {
  PyObject* const answer = PyObject_CallNoArgs(gate.may_pass);
  if (answer == nullptr) PyErr_Clear();
  const bool passes = answer == Py_True;
  Py_XDECREF(answer);
  return passes;
}

// A program's trace and profile functions (sys.settrace, sys.setprofile) hear nothing of what runs for us. Python has
// these from 3.11 on, outside of its stable interface.
class Untraced {
 public:
  Untraced() : state_(PyThreadState_Get()) {
    if (switches().enter != nullptr) switches().enter(state_);
  }
  ~Untraced() {
    if (switches().enter != nullptr) switches().leave(state_);
  }
  Untraced(const Untraced&) = delete;
  Untraced& operator=(const Untraced&) = delete;

 private:
  using Switch = void(PyThreadState*);
  struct Switches {
    Switch* enter = reinterpret_cast<Switch*>(::dlsym(RTLD_DEFAULT, "PyThreadState_EnterTracing"));
    Switch* leave = reinterpret_cast<Switch*>(::dlsym(RTLD_DEFAULT, "PyThreadState_LeaveTracing"));
  };
  static const Switches& switches() {
    static const Switches found;
    return found;
  }

  PyThreadState* state_;
};

PyObject* call_untraced(PyObject* function, PyObject* first, PyObject* second) {
  const Untraced untraced;
  return PyObject_CallFunctionObjArgs(function, first, second, nullptr);
}

// The objects have been called in their order, the last of them just now. Was that counted? nullptr when end() raises.
PyObject* end_of_all(Gate& gate) {
  PyObject* const end = new_ref(gate.end);
  PyObject* const answer = call_untraced(end, nullptr, nullptr);
  Py_DECREF(end);
  Looks& looks = *gate.looks;
  const std::size_t passed = std::exchange(looks.position, 0);
  if (answer == Py_False) {
    if (passed > 0) looks.position = passed - 1;  // the last one is late
  } else if (answer != nullptr) {
    gate_of(gate.noting).looks->noted = false;
  }
  return answer;
}

// A call that has returned is counted. nullptr when that raises what is the program's, as a request to stop does.
PyObject* counted(Gate& gate, PyObject* object, PyObject* result) {
  Looks& looks = *gate.looks;
  PyObject* answer = nullptr;
  if (looks.counted.at(looks.position) != reinterpret_cast<Id>(object)) {
    answer = new_ref(Py_False);
  } else if (++looks.position < looks.counted.size()) {
    return result;
  } else {
    answer = end_of_all(gate);
  }
  if (answer == Py_False) {
    Py_DECREF(answer);
    PyObject* const late = new_ref(gate.late);
    answer = call_untraced(late, object, nullptr);
    Py_DECREF(late);
  }
  if (answer == nullptr) Py_CLEAR(result);
  Py_XDECREF(answer);
  return result;
}

PyObject* pass(const Gate& gate, PyObject* const* arguments, std::size_t count_and_flag, PyObject* names) {
  if (gate.through == Py_None) return new_ref(Py_None);
  return PyObject_Vectorcall(gate.through, arguments, count_and_flag, names);
}

// After a call that has raised. What fails() raises itself is dropped for what the program has raised.
void tell_of_failure(const Gate& gate, PyObject* note) {
  if (gate.fails == Py_None) return;
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* const answer = call_untraced(gate.fails, note, nullptr);
  if (answer == nullptr) PyErr_Clear();
  Py_XDECREF(answer);
  PyErr_Restore(type, value, trace);
}

PyObject* call_with_note(const Gate& gate, PyObject* note, PyObject* const* arguments, std::size_t count_and_flag,
                         PyObject* names) {
  const bool replaces = PyTuple_CheckExact(note) && PyTuple_Size(note) == 3;
  PyObject* const inner = replaces ? PyTuple_GetItem(note, 0) : note;
  PyObject* result = replaces ? PyObject_Call(gate.through, PyTuple_GetItem(note, 1), PyTuple_GetItem(note, 2))
                              : pass(gate, arguments, count_and_flag, names);
  if (result == nullptr) {
    tell_of_failure(gate, inner);
  } else if (gate.ends != Py_None) {
    PyObject* const answer = call_untraced(gate.ends, inner, result);
    if (answer == nullptr) Py_CLEAR(result);
    Py_XDECREF(answer);
  }
  return result;
}

PyObject* call_begins(const Gate& gate, PyObject* const* arguments, std::size_t count_and_flag, PyObject* names) {
  const Untraced untraced;
  return PyObject_Vectorcall(gate.begins, arguments, count_and_flag, names);
}

PyObject* look(PyObject* self, PyObject* const* arguments, std::size_t count_and_flag, PyObject* names) {
  PyObject* const held = new_ref(self);  // what is called may take the gate away
  const Gate& gate = gate_of(self);
  PyObject* const note = call_begins(gate, arguments, count_and_flag, names);
  PyObject* result = nullptr;
  if (note == nullptr && gate.through != Py_None && PyErr_ExceptionMatches(PyExc_RecursionError) != 0) {
    PyErr_Clear();  // the program is as deep as it may be, and may get by without us
    result = pass(gate, arguments, count_and_flag, names);
  } else if (note == Py_None || (note != nullptr && gate.through == Py_None)) {
    result = gate.through == Py_None ? new_ref(note) : pass(gate, arguments, count_and_flag, names);
  } else if (note != nullptr) {
    result = call_with_note(gate, note, arguments, count_and_flag, names);
  }
  Py_XDECREF(note);
  Py_DECREF(held);
  return result;
}

bool is_looked_at(const Looks& looks, PyObject* first, Id id) {
  return looks.at_all || looks.at.holds(id) ||
         (looks.kind != nullptr && first != nullptr && PyType_IsSubtype(Py_TYPE(first), looks.kind) != 0);
}

// Is this call of an object that is only noted in training to be told all the same?
bool is_told(const Gate& gate, PyObject* first, Id id) {
  Looks& looks = *gate.looks;
  if (first == nullptr || !looks.in_training.holds(id) || !is_training(first)) return true;
  if (may_pass(gate)) {
    looks.noted = true;
    return false;
  }
  return ++looks.refused <= kMaxRefusedTold;
}

bool is_alone(PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  if (names != nullptr) return false;
  return count == 1 || (count == 3 && PyTuple_Check(arguments[1]) && PyTuple_Size(arguments[1]) == 1 &&
                        PyDict_Check(arguments[2]) && PyDict_Size(arguments[2]) == 0);
}

bool is_counted(const Gate& gate, Id id) {
  const Looks& looks = *gate.looks;
  return looks.counted.holds(id) && looks.thread == PyThread_get_thread_ident() &&
         (gate.behind == Py_None || gate_of(gate.behind).looks->passed);
}

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t count_and_flag, PyObject* names) {
  Gate& gate = gate_of(self);
  Looks& looks = *gate.looks;
  const Py_ssize_t count = PyVectorcall_NARGS(count_and_flag);
  PyObject* const first = count > 0 ? arguments[0] : nullptr;
  const Id id = reinterpret_cast<Id>(first);
  if (is_looked_at(looks, first, id)) {
    looks.passed = is_counted(gate, id) && is_alone(arguments, count, names);
    if (looks.passed) {
      PyObject* const result = pass(gate, arguments, count_and_flag, names);
      // What happened inside may have changed what is counted.
      const bool ends = result != nullptr && looks.counted.holds(id) && gate.end != Py_None;
      return ends ? counted(gate, first, result) : result;
    }
    if (is_told(gate, first, id)) return look(self, arguments, count_and_flag, names);
  }
  return pass(gate, arguments, count_and_flag, names);
}

PyObject* look_at(PyObject* self, PyObject* ids) {
  Looks& looks = *gate_of(self).looks;
  if (ids != Py_None && !looks.at.read(ids)) return nullptr;
  looks.at_all = ids == Py_None;
  Py_RETURN_NONE;
}

PyObject* look_at_kind(PyObject* self, PyObject* kind) {
  if (kind != Py_None && PyType_Check(kind) == 0) {
    PyErr_SetString(PyExc_TypeError, "Gate.look_at_kind: expected a type or None");
    return nullptr;
  }
  Looks& looks = *gate_of(self).looks;
  PyTypeObject* const before = looks.kind;
  looks.kind = kind == Py_None ? nullptr : reinterpret_cast<PyTypeObject*>(new_ref(kind));
  Py_XDECREF(reinterpret_cast<PyObject*>(before));
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

// Those beyond the ones that were told.
PyObject* take_refused(PyObject* self, PyObject*) {
  const std::uint64_t refused = std::exchange(gate_of(self).looks->refused, 0);
  return PyLong_FromUnsignedLongLong(refused > kMaxRefusedTold ? refused - kMaxRefusedTold : 0);
}

PyObject* set_reduced(PyObject* self, PyObject* reduced) {
  replace(gate_of(self).reduced, new_ref(reduced));
  Py_RETURN_NONE;
}

PyObject* reduce(PyObject* self, PyObject*) {
  const Gate& gate = gate_of(self);
  if (gate.reduced != Py_None) return new_ref(gate.reduced);
  PyErr_SetString(PyExc_TypeError, "cannot pickle 'Gate' object");
  return nullptr;
}

PyObject* represent(PyObject* self) {
  const Gate& gate = gate_of(self);
  return gate.through == Py_None ? PyUnicode_FromString("<Gate>") : PyObject_Repr(gate.through);
}

// A gate has its class, and each attribute that is not its own, from the function that it stands in for.
PyObject* attribute(PyObject* self, PyObject* name) {
  const Gate& gate = gate_of(self);
  const bool stands_in = gate.through != nullptr && gate.through != Py_None;
  if (stands_in && PyUnicode_Compare(name, class_text) == 0)
    return new_ref(reinterpret_cast<PyObject*>(Py_TYPE(gate.through)));
  PyObject* const own = PyObject_GenericGetAttr(self, name);
  if (own != nullptr || !stands_in || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return own;
  PyErr_Clear();
  return PyObject_GetAttr(gate.through, name);
}

PyObject* count(PyObject* self, PyObject* arguments) {
  Gate& gate = gate_of(self);
  PyObject* ids = nullptr;
  PyObject* end = nullptr;
  PyObject* late = nullptr;
  PyObject* noting = nullptr;
  unsigned long thread = 0;
  if (PyArg_ParseTuple(arguments, "OkOOO!:count", &ids, &thread, &end, &late, Py_TYPE(self), &noting) == 0)
    return nullptr;
  if (!gate.looks->counted.read(ids)) return nullptr;
  gate.looks->position = 0;
  gate.looks->thread = thread;
  replace(gate.end, new_ref(end));
  replace(gate.late, new_ref(late));
  replace(gate.noting, new_ref(noting));
  Py_RETURN_NONE;
}

PyObject* take_passed(PyObject* self, PyObject*) {
  return PyLong_FromSize_t(std::exchange(gate_of(self).looks->position, 0));
}

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* names) {
  PyObject* through = nullptr;
  PyObject* begins = nullptr;
  PyObject* ends = Py_None;
  PyObject* fails = Py_None;
  PyObject* behind = Py_None;
  static const char* const keywords[] = {"through", "begins", "ends", "fails", "behind", nullptr};
  if (PyArg_ParseTupleAndKeywords(arguments, names, "OO|OOO:Gate", const_cast<char**>(keywords), &through, &begins,
                                  &ends, &fails, &behind) == 0) {
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
  gate.begins = new_ref(begins);
  gate.ends = new_ref(ends);
  gate.fails = new_ref(fails);
  gate.reduced = new_ref(Py_None);
  gate.behind = new_ref(behind);
  return self;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  const Gate& gate = gate_of(self);
  Py_VISIT(Py_TYPE(self));
  for (PyObject* const each : {gate.attributes, gate.through, gate.begins, gate.ends, gate.fails, gate.reduced,
                               gate.end, gate.late, gate.noting, gate.behind, gate.may_pass})
    Py_VISIT(each);
  return 0;
}

int clear(PyObject* self) {
  Gate& gate = gate_of(self);
  for (PyObject** const each : {&gate.attributes, &gate.through, &gate.begins, &gate.ends, &gate.fails, &gate.reduced,
                                &gate.end, &gate.late, &gate.noting, &gate.behind, &gate.may_pass}) {
    replace(*each, nullptr);
  }
  return 0;
}

void destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (gate_of(self).weak_references != nullptr) PyObject_ClearWeakRefs(self);
  clear(self);
  if (gate_of(self).looks != nullptr) Py_XDECREF(reinterpret_cast<PyObject*>(gate_of(self).looks->kind));
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
     "look_at($self, ids, /)\n--\n\nWhich calls are looked at: those of the objects with these ids; None: all."},
    {"look_at_kind", look_at_kind, METH_O,
     "look_at_kind($self, type, /)\n--\n\nAlso those of objects of this type; None: no more."},
    {"note_in_training", note_in_training, METH_VARARGS,
     "note_in_training($self, ids, may_pass, /)\n--\n\nOf which objects a call in training mode is only noted, while "
     "may_pass() gives True."},
    {"take_refused", take_refused, METH_NOARGS,
     "take_refused($self, /)\n--\n\nHow many calls may_pass() has refused since the last time, beside those that were "
     "looked at."},
    {"set_reduced", set_reduced, METH_O,
     "set_reduced($self, reduced, /)\n--\n\nWhat __reduce__() gives, so that a pickle finds what stands here without "
     "us."},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"take_noted", take_noted, METH_NOARGS, "take_noted($self, /)\n--\n\nWas a call noted since the last time?"},
    {"count", count, METH_VARARGS,
     "count($self, ids, thread, end, late, noting, /)\n--\n\nCalls with one of these objects alone pass; once each has "
     "been called in this order end() is called. When that gives False, and after a call out of order, late(object) is "
     "called, else `noting` forgets what it has noted."},
    {"take_passed", take_passed, METH_NOARGS,
     "take_passed($self, /)\n--\n\nHow many of the counted objects were called since end() was."},
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
      {Py_tp_repr, slot(represent)},
      {Py_tp_getattro, slot(attribute)},
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
  if (dict_text == nullptr) dict_text = PyUnicode_InternFromString("__dict__");
  if (class_text == nullptr) class_text = PyUnicode_InternFromString("__class__");
  if (method_type == nullptr)
    method_type = nb::object(nb::module_::import_("types").attr("MethodType")).release().ptr();
  PyObject* const type = PyType_FromSpec(&spec);
  if (training_text == nullptr || dict_text == nullptr || class_text == nullptr || type == nullptr)
    throw nb::python_error();
  module.attr("Gate") = nb::steal(type);
}

}  // namespace trainwarden::python
