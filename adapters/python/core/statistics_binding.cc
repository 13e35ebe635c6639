// Statistics in Python.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "python_trial.h"
#include "reductions.h"
#include "tensor_argument.h"
#include "trainwarden/statistics.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;

// The bins of a histogram by rising value.
struct HistogramBins {
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<std::uint64_t> counts;

  void add(std::uint64_t count, double lower_edge, double upper_edge) {
    lower.push_back(lower_edge);
    upper.push_back(upper_edge);
    counts.push_back(count);
  }
};

// Negative bins lie by falling magnitude first.
std::optional<HistogramBins> histogram_of(const Statistics& statistics) {
  if (!statistics.has_histogram) return std::nullopt;
  constexpr int kFirstNegative = Histogram::kBinCount / 2;
  const std::vector<Histogram::Bin>& bins = statistics.histogram.bins;
  HistogramBins rising;
  for (auto bin = bins.rbegin(); bin != bins.rend() && bin->index >= kFirstNegative; ++bin) {
    rising.add(bin->count, Histogram::upper_edge(bin->index), Histogram::lower_edge(bin->index));
  }
  for (const Histogram::Bin& bin : bins) {
    if (bin.index >= kFirstNegative) break;
    rising.add(bin.count, Histogram::lower_edge(bin.index), Histogram::upper_edge(bin.index));
  }
  return rising;
}

// An array over the histogram's own memory, which it keeps.
template <class T, std::vector<T> HistogramBins::*member>
nb::ndarray<nb::numpy, const T, nb::ndim<1>> array_of(const HistogramBins& bins) {
  return {(bins.*member).data(), {(bins.*member).size()}};
}

double reduction(const Statistics& statistics, std::string_view name, bool abs) {
  const Reduction wanted = reduction_of(name);
  if (!in_statistics(wanted)) throw nb::value_error("statistics hold no product; ask the trial for the reduction");
  return statistics.reduction(wanted, abs);
}

Statistics compute(nb::handle value, bool histogram, bool hash) {
  const TensorArgument argument = tensor_argument(value);
  const auto* tensor = std::get_if<BorrowedTensor>(&argument);
  if (tensor == nullptr) throw nb::type_error("expected a tensor of numbers that can be read here");
  Result<Statistics> statistics = [&] {
    const nb::gil_scoped_release no_gil;
    return compute_statistics(tensor->view, {.histogram = histogram, .hash = hash});
  }();
  return value_or_raise(std::move(statistics));
}

void bind_counts(nb::class_<Statistics>& type) {
  type.def_ro("count", &Statistics::count, "All elements, also NaN and infinite ones.")
      .def_ro("nan_count", &Statistics::nan_count)
      .def_ro("positive_inf_count", &Statistics::positive_inf_count)
      .def_ro("negative_inf_count", &Statistics::negative_inf_count)
      .def_ro("zero_count", &Statistics::zero_count)
      .def_prop_ro("inf_count", &Statistics::inf_count)
      .def_prop_ro("finite_count", &Statistics::finite_count);
}

void bind_moments(nb::class_<Statistics>& type) {
  type.def_ro("min", &Statistics::min)
      .def_ro("max", &Statistics::max)
      .def_ro("abs_min", &Statistics::abs_min)
      .def_ro("abs_max", &Statistics::abs_max)
      .def_prop_ro("sum", [](const Statistics& s) { return s.sum.to_double(); })
      .def_prop_ro("abs_sum", [](const Statistics& s) { return s.abs_sum.to_double(); })
      .def_prop_ro("square_sum", [](const Statistics& s) { return s.square_sum.to_double(); })
      .def_prop_ro("mean", &Statistics::mean)
      .def_prop_ro("abs_mean", &Statistics::abs_mean)
      .def_prop_ro("variance", &Statistics::variance, "Of the population (divided by n).")
      .def_prop_ro("abs_variance", &Statistics::abs_variance)
      .def_prop_ro("std", &Statistics::deviation)
      .def_prop_ro("abs_std", &Statistics::abs_deviation)
      .def_prop_ro("l1", &Statistics::l1)
      .def_prop_ro("l2", &Statistics::l2);
}

void bind_whole(nb::class_<Statistics>& type) {
  type.def_prop_ro(
          "hash", [](const Statistics& s) { return s.has_hash ? std::optional(s.hash) : std::nullopt; },
          "64 bits of the bytes; None when it was not kept.")
      .def_ro("approximate", &Statistics::approximate,
              "They were computed elsewhere, in floating point: sums are rounded (Hook.save_statistics).")
      .def_prop_ro("histogram", histogram_of, "None when it was not kept.")
      .def("reduction", reduction, nb::arg("reduction"), nb::arg("abs") = false,
           "As IEEE arithmetic over all elements gives it: NaN when any element is NaN. `abs` takes |x| first.")
      .def(
          "merged",
          [](Statistics self, const Statistics& next) {
            self.merge(next);
            return self;
          },
          nb::arg("next"), "The statistics of both parts together, exact.")
      .def(
          "__eq__", [](const Statistics& self, const Statistics& other) { return self == other; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object) -> bool"));
}

}  // namespace

void bind_statistics(nb::module_& module) {
  nb::class_<HistogramBins>(module, "Histogram",
                            "Counts of the finite elements, four bins an octave, by rising value; empty bins are left "
                            "out. The edge nearer to zero belongs to a bin.")
      .def_prop_ro("lower", array_of<double, &HistogramBins::lower>)
      .def_prop_ro("upper", array_of<double, &HistogramBins::upper>)
      .def_prop_ro("counts", array_of<std::uint64_t, &HistogramBins::counts>);
  nb::class_<Statistics> type(
      module, "Statistics",
      "One-pass statistics, exact unless they are approximate. Moments and extremes are over "
      "the finite elements, NaN when there are none; complex tensors count as twice as many real numbers.");
  bind_counts(type);
  bind_moments(type);
  bind_whole(type);
  module.def("compute_statistics", compute, nb::arg("tensor"), nb::kw_only(), nb::arg("histogram") = false,
             nb::arg("hash") = false,
             "The exact statistics of a tensor in host memory: anything that Hook.save_tensor takes, but texts.");
}

}  // namespace trainwarden::python
