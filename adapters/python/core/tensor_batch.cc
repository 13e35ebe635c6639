// TensorBatch: tensors of which only the address changes from step to step, handed over with one call.
#include <cstdint>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "memory_argument.h"
#include "python_hook.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;

struct BatchTensor {
  TensorId id;
  TensorView view;  // its address is the last one given
  std::size_t bytes = 0;
};

class TensorBatch {
 public:
  explicit TensorBatch(PythonHook& hook) : hook_(hook) {}

  void add(std::uint32_t id, const MemoryArgument& memory) {
    BatchTensor tensor{TensorId{id}, memory.view(), 0};
    tensor.bytes = tensor.view.packed_bytes();
    tensors_.push_back(tensor);
  }

  std::size_t size() const { return tensors_.size(); }

  void save(nb::list addresses, std::uintptr_t stream) {
    if (addresses.size() != tensors_.size()) {
      const std::string problem = "expected " + std::to_string(tensors_.size()) +
                                  " addresses, one for each tensor of the batch, found " +
                                  std::to_string(addresses.size());
      throw nb::value_error(problem.c_str());
    }
    if (!hook_.hook().wants_anything()) return;
    std::vector<BatchTensor> wanted = wanted_tensors(addresses, stream);
    if (wanted.empty()) return;
    std::size_t bytes = 0;
    for (const BatchTensor& tensor : wanted) bytes += tensor.bytes;
    hook_.offer(bytes, [&](Hook& hook) {
      hook.begin_group();
      for (const BatchTensor& tensor : wanted) hook.save_tensor(tensor.id, tensor.view);
      hook.end_group();
    });
  }

 private:
  std::vector<BatchTensor> wanted_tensors(nb::list addresses, std::uintptr_t stream) {
    std::vector<BatchTensor> wanted;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const nb::handle address = addresses[i];
      if (address.is_none() || !hook_.hook().wants(tensors_[i].id)) continue;
      wanted.push_back(tensors_[i]);
      wanted.back().view.stream = reinterpret_cast<void*>(stream);
      wanted.back().view.data = PyLong_AsVoidPtr(address.ptr());
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
    }
    return wanted;
  }

  PythonHook& hook_;
  std::vector<BatchTensor> tensors_;
};

void add(TensorBatch& self, std::uint32_t id, int dtype, nb::handle shape, nb::handle strides, int device_type,
         int device_index) {
  self.add(id, {dtype, shape, strides, device_type, device_index});
}

}  // namespace

void bind_tensor_batch(nb::module_& module) {
  nb::class_<TensorBatch>(module, "TensorBatch",
                          "For adapters: tensors of which only the address changes, saved with one call.")
      .def(nb::init<PythonHook&>(), nb::arg("hook"), nb::keep_alive<1, 2>())
      .def("add", add, nb::arg("id"), nb::arg("dtype"), nb::arg("shape"), nb::arg("strides").none() = nb::none(),
           nb::arg("device_type") = 1, nb::arg("device_index") = 0,
           nb::sig("def add(self, id: int, dtype: int, shape: tuple[int, ...], strides: tuple[int, ...] | None = None, "
                   "device_type: int = 1, device_index: int = 0) -> None"),
           "Adds a tensor, described as in Hook.save_memory().")
      .def("__len__", &TensorBatch::size)
      .def("save", &TensorBatch::save, nb::arg("addresses"), nb::arg("stream") = 0,
           nb::sig("def save(self, addresses: list[int | None], stream: int = 0) -> None"),
           "Saves those that are wanted at the current step; one address for each tensor, None: not there now.");
}

}  // namespace trainwarden::python
