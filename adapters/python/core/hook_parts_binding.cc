// Hook in Python: tensors that come in parts.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "python_hook.h"
#include "tensor_argument.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;

Shape shape_of(const std::vector<std::int64_t>& sizes) {
  const Result<Shape> shape = Shape::from(sizes);
  if (!shape.ok()) throw nb::value_error(std::string(shape.status().message()).c_str());
  return *shape;
}

// A copy of a part is left out before anything is read.
void save_shard_by_id(PythonHook& self, std::uint32_t id, nb::handle part,
                      const std::vector<std::int64_t>& global_shape, const std::vector<std::int64_t>& offsets,
                      int replica) {
  if (replica != 0 || !self.hook().wants(TensorId{id})) return;
  const Shape whole = shape_of(global_shape);
  TensorArgument argument = tensor_argument(part);
  const auto* tensor = std::get_if<BorrowedTensor>(&argument);
  const TensorView view = tensor != nullptr ? tensor->view : unreadable_view();
  self.offer(tensor != nullptr ? view.packed_bytes() : 0,
             [&](Hook& hook) { hook.save_shard(TensorId{id}, view, whole, offsets); });
}

void save_shard_by_name(PythonHook& self, std::string_view name, nb::handle part,
                        const std::vector<std::int64_t>& global_shape, const std::vector<std::int64_t>& offsets,
                        int replica) {
  if (replica != 0 || !self.hook().wants(name)) return;
  save_shard_by_id(self, self.hook().declare(name).value, part, global_shape, offsets, replica);
}

}  // namespace

void bind_hook_parts(nb::class_<PythonHook>& type) {
  type.def("save_shard", save_shard_by_name, nb::arg("tensor"), nb::arg("part").none(), nb::arg("global_shape"),
           nb::arg("offsets"), nb::arg("replica") = 0)
      .def("save_shard", save_shard_by_id, nb::arg("tensor"), nb::arg("part").none(), nb::arg("global_shape"),
           nb::arg("offsets"), nb::arg("replica") = 0,
           "Keeps one part of a tensor, which begins at `offsets` of the whole, when it is wanted. When all have come, "
           "the step has the tensor: its statistics, merged exactly, or its values, put together. Copies of a part, "
           "which have another `replica` than 0, are left out. A tensor of which parts are missing at the end of the "
           "step is lost.");
}

}  // namespace trainwarden::python
