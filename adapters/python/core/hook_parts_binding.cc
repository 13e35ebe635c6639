// Hook in Python: tensors that come in parts, and those of which the program has computed the statistics.
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

DType dtype_of(std::string_view name) {
  const auto dtype = dtype_of_name(name);
  if (!dtype) throw nb::value_error("expected the name of a dtype, such as float32");
  return *dtype;
}

struct Numbers {
  std::uint64_t nan_count, positive_inf_count, negative_inf_count, zero_count;
  double min, max, abs_min, sum, abs_sum, square_sum;
};

GivenStatistics given_of(const std::vector<std::int64_t>& shape, std::string_view dtype, const Numbers& numbers) {
  return {.dtype = dtype_of(dtype),
          .shape = shape_of(shape),
          .nan_count = numbers.nan_count,
          .positive_inf_count = numbers.positive_inf_count,
          .negative_inf_count = numbers.negative_inf_count,
          .zero_count = numbers.zero_count,
          .min = numbers.min,
          .max = numbers.max,
          .abs_min = numbers.abs_min,
          .sum = numbers.sum,
          .abs_sum = numbers.abs_sum,
          .square_sum = numbers.square_sum};
}

// Bound once for names and once for numbers of tensors.
template <class Argument, class Target>
void bind_save_statistics(nb::class_<PythonHook>& type, const char* doc) {
  type.def(
      "save_statistics",
      [](PythonHook& self, Argument tensor, const std::vector<std::int64_t>& shape, std::string_view dtype, double min,
         double max, double abs_min, double sum, double abs_sum, double square_sum, std::uint64_t nan_count,
         std::uint64_t positive_inf_count, std::uint64_t negative_inf_count, std::uint64_t zero_count) {
        const GivenStatistics given = given_of(shape, dtype,
                                               {nan_count, positive_inf_count, negative_inf_count, zero_count, min, max,
                                                abs_min, sum, abs_sum, square_sum});
        self.call([&](Hook& hook) { hook.save_statistics(Target{tensor}, given); });
      },
      nb::arg("tensor"), nb::arg("shape"), nb::arg("dtype") = "float32", nb::kw_only(), nb::arg("min"), nb::arg("max"),
      nb::arg("abs_min"), nb::arg("sum"), nb::arg("abs_sum"), nb::arg("square_sum"), nb::arg("nan_count") = 0,
      nb::arg("positive_inf_count") = 0, nb::arg("negative_inf_count") = 0, nb::arg("zero_count") = 0, doc);
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
  bind_save_statistics<std::string_view, std::string_view>(type, "");
  bind_save_statistics<std::uint32_t, TensorId>(
      type,
      "Keeps statistics that the program has computed itself, as on an accelerator, when the tensor is wanted: over "
      "its finite elements, which are not looked at where there are none; sums may be infinite. They are marked as "
      "approximate. Numbers that cannot be of one tensor are counted as lost.");
  type.def("save_shard", save_shard_by_name, nb::arg("tensor"), nb::arg("part").none(), nb::arg("global_shape"),
           nb::arg("offsets"), nb::arg("replica") = 0)
      .def("save_shard", save_shard_by_id, nb::arg("tensor"), nb::arg("part").none(), nb::arg("global_shape"),
           nb::arg("offsets"), nb::arg("replica") = 0,
           "Keeps one part of a tensor, which begins at `offsets` of the whole, when it is wanted. When all parts have "
           "come, the step has the tensor: its statistics, merged exactly, or its values, put together. Copies of a "
           "part (`replica` is not 0) are left out. A tensor of which parts are missing when the step ends is lost.");
}

}  // namespace trainwarden::python
