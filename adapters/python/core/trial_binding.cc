// Trial in Python. trainwarden/trial.py has the class that users see, and makes NumPy arrays of values.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "modes.h"
#include "python_trial.h"
#include "reductions.h"
#include "waiting.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;
using Steps = std::vector<std::int64_t>;
using Bytes = nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>;

// A value as it lies in memory; trainwarden/trial.py gives it its type and shape.
struct Value {
  SharedTensorValue shared;

  std::string_view dtype() const { return name(shared.view.dtype); }
  std::vector<std::int64_t> shape() const {
    const auto sizes = shared.view.shape.sizes();
    return {sizes.begin(), sizes.end()};
  }
  // The array keeps the memory, not this object.
  Bytes bytes() const {
    auto* owner = new std::shared_ptr<const void>(shared.owner);
    const nb::capsule keeper(owner,
                             [](void* held) noexcept { delete static_cast<std::shared_ptr<const void>*>(held); });
    return Bytes(shared.view.data, {shared.view.packed_bytes()}, keeper);
  }
  // Texts that are no UTF-8 keep their bytes as surrogates.
  nb::list strings() const {
    nb::list texts;
    const auto* views = static_cast<const std::string_view*>(shared.view.data);
    for (std::int64_t i = 0; i < shared.view.element_count(); ++i) {
      PyObject* text =
          PyUnicode_DecodeUTF8(views[i].data(), static_cast<Py_ssize_t>(views[i].size()), "surrogateescape");
      if (text == nullptr) throw nb::python_error();
      texts.append(nb::steal(text));
    }
    return texts;
  }
};

// Where a tensor is asked for.
struct Place {
  std::string_view tensor;
  std::int64_t step;
  Mode mode;
  std::string_view worker;
};

// Calls `get(trial, place)` and gives its result to Python.
template <auto get>
auto at_place(PythonTrial& self, std::string_view tensor, std::int64_t step, std::string_view mode,
              std::string_view worker) {
  const Place place{tensor, step, mode_of(mode), worker};
  return value_or_raise(self.read([&](Trial& trial) { return get(trial, place); }));
}

Result<Value> value(Trial& trial, const Place& place) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto shared, trial.shared_value(place.tensor, place.step, place.mode, place.worker));
  return Value{std::move(shared)};
}
Result<Statistics> statistics(Trial& trial, const Place& place) {
  return trial.statistics(place.tensor, place.step, place.mode, place.worker);
}
Result<double> scalar(Trial& trial, const Place& place) {
  return trial.scalar(place.tensor, place.step, place.mode, place.worker);
}
Result<std::vector<ReductionTuple>> saved_reductions(Trial& trial, const Place& place) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto saved,
                               trial.saved_reductions(place.tensor, place.step, place.mode, place.worker));
  return tuples_of(saved);
}
Result<Steps> shape(Trial& trial, const Place& place) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Shape shape, trial.shape(place.tensor, place.step, place.mode, place.worker));
  return Steps(shape.sizes().begin(), shape.sizes().end());
}
Result<std::vector<std::string>> workers_of(Trial& trial, const Place& place) {
  return trial.workers_of(place.tensor, place.step, place.mode);
}

double reduction(PythonTrial& self, std::string_view tensor, std::int64_t step, std::string_view reduction, bool abs,
                 std::string_view mode, std::string_view worker) {
  const Reduction wanted = reduction_of(reduction);
  const Mode of_mode = mode_of(mode);
  return value_or_raise(
      self.read([&](Trial& trial) { return trial.reduction(tensor, step, wanted, abs, of_mode, worker); }));
}

nb::tuple sharded(PythonTrial& self, std::string_view tensor, std::int64_t step, std::string_view mode) {
  const Mode of_mode = mode_of(mode);
  const ShardedTensor whole =
      value_or_raise(self.read([&](Trial& trial) { return trial.sharded(tensor, step, of_mode); }));
  const auto sizes = whole.shape.sizes();
  return nb::make_tuple(Steps(sizes.begin(), sizes.end()), whole.statistics, whole.workers);
}

void wait_for_steps(PythonTrial& self, const Steps& steps, std::string_view mode, double timeout_s) {
  constexpr std::chrono::milliseconds kBucketTurn{1'000};  // each begins with a look, which is a request or some
  const Mode wanted = mode_of(mode);
  const auto wait = [&](std::chrono::milliseconds timeout) {
    return self.read([&](Trial& trial) { return trial.wait_for_steps(steps, wanted, timeout); });
  };
  const bool is_in_bucket = self.trial().path().string().starts_with("s3:");
  raise_if_error(wait_until(deadline_in(timeout_s), wait, is_in_bucket ? kBucketTurn : kTurn));
}

std::vector<std::string> tensor_names(PythonTrial& self, std::vector<std::string> include, std::string collection,
                                      std::optional<std::string_view> mode, std::optional<std::int64_t> step) {
  const TensorQuery query{.include = std::move(include),
                          .collection = std::move(collection),
                          .mode = mode ? std::optional(mode_of(*mode)) : std::nullopt,
                          .step = step};
  return value_or_raise(self.read([&](Trial& trial) { return trial.tensor_names(query); }));
}

std::vector<std::string_view> modes(PythonTrial& self) {
  std::vector<std::string_view> names;
  for (const Mode mode : self.look([](Trial& trial) { return trial.modes(); })) names.push_back(name(mode));
  return names;
}

// Members of a collection; its save policy and keep form are the writer's affair.
nb::tuple collection(PythonTrial& self, std::string_view name) {
  const Collection found = value_or_raise(self.look([&](Trial& trial) { return trial.collection(name); }));
  return nb::make_tuple(found.name, found.include, found.tensor_names);
}

std::vector<std::int64_t> info_shape(const TensorInfo& info) {
  return {info.shape.sizes().begin(), info.shape.sizes().end()};
}

void bind_records(nb::module_& module) {
  nb::class_<RunLoss>(module, "RunLoss", "Something that is missing from a run, and why.")
      .def_ro("where", &RunLoss::where)
      .def_ro("cause", &RunLoss::cause)
      .def_ro("count", &RunLoss::count)
      .def_ro("bytes", &RunLoss::bytes)
      .def_ro("by_writer", &RunLoss::by_writer,
              "True: it never reached the run. False: damaged or missing in its files.");
  nb::class_<TensorInfo>(module, "TensorInfo", "What is known of a tensor without reading its value.")
      .def_ro("name", &TensorInfo::name)
      .def_ro("collections", &TensorInfo::collections)
      .def_prop_ro(
          "dtype", [](const TensorInfo& info) { return name(info.dtype); }, "Of the newest record.")
      .def_prop_ro("shape", info_shape, "Of the newest record.")
      .def_ro("values", &TensorInfo::values, "How many steps hold it whole.")
      .def_ro("statistics", &TensorInfo::statistics, "How many hold its statistics.")
      .def_ro("scalars", &TensorInfo::scalars)
      .def_ro("reductions", &TensorInfo::reductions, "How many hold single reductions of it.");
  nb::class_<Value>(module, "Value", "A value as it lies in memory.")
      .def_prop_ro("dtype", &Value::dtype)
      .def_prop_ro("shape", &Value::shape)
      .def_prop_ro("bytes", &Value::bytes, nb::rv_policy::automatic, "Read-only, over the same memory.")
      .def_prop_ro("strings", &Value::strings, nb::sig("def strings(self) -> list[str]"));
}

// Of the words of trainwarden.Kept; "fullest" stands alone.
Kept kept_of(const std::vector<std::string>& words) {
  constexpr std::array<std::pair<std::string_view, Kept>, 7> kWords = {{{"fullest", Kept::kFullest},
                                                                        {"any", Kept::kAny},
                                                                        {"value", Kept::kValue},
                                                                        {"statistics", Kept::kStatistics},
                                                                        {"scalar", Kept::kScalar},
                                                                        {"shape", Kept::kShape},
                                                                        {"reductions", Kept::kReductions}}};
  if (words.empty()) throw nb::value_error("expected a form of trainwarden.Kept at least, found none");
  Kept kept = Kept::kFullest;
  for (const std::string& word : words) {
    const auto found = std::find_if(kWords.begin(), kWords.end(), [&](const auto& one) { return one.first == word; });
    if (found == kWords.end()) throw nb::value_error("expected forms of trainwarden.Kept");
    if (found->second == Kept::kFullest && words.size() > 1) {
      throw nb::value_error("expected kept=\"fullest\" alone, found it with other forms");
    }
    kept = kept | found->second;
  }
  return kept;
}

void open_trial(PythonTrial* self, std::string_view path, std::int64_t incomplete_step_window, bool verify) {
  const TrialOptions options{.incomplete_step_window = incomplete_step_window, .verify_payloads = verify};
  const std::filesystem::path folder(path);
  Result<std::unique_ptr<Trial>> trial = [&] {
    const nb::gil_scoped_release no_gil;
    return Trial::open(folder, options);
  }();
  new (self) PythonTrial(value_or_raise(std::move(trial)));
}

// What is known of the run and of its steps.
void bind_run(nb::class_<PythonTrial>& type) {
  type.def("refresh", [](PythonTrial& self) { raise_if_error(self.read([](Trial& t) { return t.refresh(); })); })
      .def_prop_ro("path", [](PythonTrial& self) { return self.trial().path().string(); })
      .def_prop_ro("run_id", [](PythonTrial& self) { return self.trial().run_id(); })
      .def_prop_ro("recorder", [](PythonTrial& self) { return self.trial().recorder(); })
      .def_prop_ro("created_unix_ns", [](PythonTrial& self) { return self.trial().created_unix_ns(); })
      .def_prop_ro("last_unix_ns",
                   [](PythonTrial& self) { return self.look([](Trial& t) { return t.last_unix_ns(); }); })
      .def_prop_ro("labels", [](PythonTrial& self) { return self.trial().labels(); })
      .def_prop_ro("framework", [](PythonTrial& self) { return self.trial().framework(); })
      .def_prop_ro("state", [](PythonTrial& self) { return name(self.look([](Trial& t) { return t.state(); })); })
      .def_prop_ro("world_size", [](PythonTrial& self) { return self.trial().world_size(); })
      .def_prop_ro("workers", [](PythonTrial& self) { return self.look([](Trial& t) { return t.workers(); }); })
      .def_prop_ro("losses", [](PythonTrial& self) { return self.look([](Trial& t) { return t.losses(); }); })
      .def_prop_ro("modes", modes)
      .def_prop_ro("last_complete_step",
                   [](PythonTrial& self) { return self.look([](Trial& t) { return t.last_complete_step(); }); })
      .def_prop_ro("loaded_all_steps",
                   [](PythonTrial& self) { return self.look([](Trial& t) { return t.loaded_all_steps(); }); });
}

void bind_steps(nb::class_<PythonTrial>& type) {
  type.def(
          "steps",
          [](PythonTrial& self, std::string_view mode, bool incomplete) {
            return self.look([&](Trial& trial) { return trial.steps(mode_of(mode), incomplete); });
          },
          nb::arg("mode"), nb::arg("include_incomplete"))
      .def(
          "steps_with",
          [](PythonTrial& self, const std::vector<std::string>& kept, std::string_view mode, bool incomplete) {
            const Kept forms = kept_of(kept);
            const Mode wanted = mode_of(mode);
            return self.read([&](Trial& trial) { return trial.steps_with(forms, wanted, incomplete); });
          },
          nb::arg("kept"), nb::arg("mode"), nb::arg("include_incomplete"))
      .def(
          "steps_of",
          [](PythonTrial& self, std::string_view tensor, std::string_view mode, const std::vector<std::string>& kept,
             bool incomplete) {
            const Kept forms = kept_of(kept);
            const Mode wanted = mode_of(mode);
            return self.read([&](Trial& trial) { return trial.steps_of(tensor, wanted, forms, incomplete); });
          },
          nb::arg("tensor"), nb::arg("mode"), nb::arg("kept"), nb::arg("include_incomplete"))
      .def(
          "global_step",
          [](PythonTrial& self, std::string_view mode, std::int64_t step) {
            return self.look([&](Trial& trial) { return trial.global_step(mode_of(mode), step); });
          },
          nb::arg("mode"), nb::arg("mode_step"))
      .def(
          "mode_of",
          [](PythonTrial& self, std::int64_t step) {
            const auto mode = self.look([&](Trial& trial) { return trial.mode_of(step); });
            return mode ? std::optional(name(*mode)) : std::nullopt;
          },
          nb::arg("global_step"))
      .def(
          "mode_step_of",
          [](PythonTrial& self, std::int64_t step) {
            return self.look([&](Trial& trial) { return trial.mode_step_of(step); });
          },
          nb::arg("global_step"));
}

// For who follows a run.
void bind_following(nb::class_<PythonTrial>& type) {
  type.def(
          "complete_steps_after",
          [](PythonTrial& self, std::int64_t step) {
            return self.look([&](Trial& trial) { return trial.complete_steps_after(step); });
          },
          nb::arg("global_step"))
      .def(
          "step_state",
          [](PythonTrial& self, std::int64_t step, std::string_view mode) {
            return name(self.look([&](Trial& trial) { return trial.step_state(step, mode_of(mode)); }));
          },
          nb::arg("step"), nb::arg("mode"))
      .def("wait_for_steps", wait_for_steps, nb::arg("steps"), nb::arg("mode"), nb::arg("timeout_s"));
}

// Name, worker, unit, kind, source, instance: the fields of trainwarden.Metric.
using MetricTuple = std::tuple<std::string, std::string, std::string, std::string_view, std::string_view, std::string>;

MetricTuple tuple_of(const SampledMetric& sampled) {
  const Metric& metric = sampled.metric;
  return {metric.name, sampled.worker, metric.unit, name(metric.kind), name(metric.source), metric.instance};
}

std::vector<MetricTuple> metrics(PythonTrial& self) {
  std::vector<MetricTuple> tuples;
  for (const SampledMetric& metric : self.look([](Trial& trial) { return trial.metrics(); })) {
    tuples.push_back(tuple_of(metric));
  }
  return tuples;
}

Result<SampledMetric> find_metric(Trial& trial, const MetricTuple& wanted) {
  for (const SampledMetric& metric : trial.metrics()) {
    if (tuple_of(metric) == wanted) return metric;
  }
  return Status(Code::kNotFound, "the run has no such metric of \"" + std::get<1>(wanted) +
                                     "\"; Trial.metrics() lists those that there are");
}

template <class Number>
using Column = nb::ndarray<nb::numpy, const Number, nb::ndim<1>>;

// The array keeps the numbers.
template <class Number>
Column<Number> column_of(std::vector<Number> numbers) {
  auto* owner = new std::vector<Number>(std::move(numbers));
  const nb::capsule keeper(owner, [](void* held) noexcept { delete static_cast<std::vector<Number>*>(held); });
  return Column<Number>(owner->data(), {owner->size()}, keeper);
}

struct SampleColumns {
  std::vector<std::int64_t> unix_ns;
  std::vector<double> values;
  std::vector<double> steps;  // NaN where none was printed
};

Result<SampleColumns> read_samples(Trial& trial, const MetricTuple& wanted, std::int64_t from, std::int64_t to) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const SampledMetric metric, find_metric(trial, wanted));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto samples, trial.samples(metric, from, to));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto steps, trial.sample_steps(metric, from, to));
  SampleColumns columns;
  auto step = steps.begin();
  for (const Sample& sample : samples) {
    while (step != steps.end() && step->unix_ns < sample.unix_ns) ++step;
    columns.unix_ns.push_back(sample.unix_ns);
    columns.values.push_back(sample.value);
    const bool has_step = step != steps.end() && step->unix_ns == sample.unix_ns;
    columns.steps.push_back(has_step ? step->value : std::numeric_limits<double>::quiet_NaN());
  }
  return columns;
}

nb::tuple samples(PythonTrial& self, const MetricTuple& metric, std::int64_t from_unix_ns, std::int64_t to_unix_ns) {
  SampleColumns columns =
      value_or_raise(self.read([&](Trial& trial) { return read_samples(trial, metric, from_unix_ns, to_unix_ns); }));
  return nb::make_tuple(column_of(std::move(columns.unix_ns)), column_of(std::move(columns.values)),
                        column_of(std::move(columns.steps)));
}

void bind_metrics(nb::class_<PythonTrial>& type) {
  type.def("metrics", metrics)
      .def("samples", samples, nb::arg("metric"), nb::arg("from_unix_ns"), nb::arg("to_unix_ns"),
           nb::sig("def samples(self, metric: tuple[str, str, str, str, str, str], from_unix_ns: int, to_unix_ns: int) "
                   "-> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], "
                   "numpy.typing.NDArray[numpy.float64]]"));
}

void bind_tensors(nb::class_<PythonTrial>& type) {
  const auto def = [&](const char* name, auto method) {
    type.def(name, method, nb::arg("tensor"), nb::arg("step"), nb::arg("mode"), nb::arg("worker"));
  };
  def("value", at_place<value>);
  def("statistics", at_place<statistics>);
  type.def("sharded", sharded, nb::arg("tensor"), nb::arg("step"), nb::arg("mode"),
           nb::sig("def sharded(self, tensor: str, step: int, mode: str) -> tuple[list[int], Statistics, list[str]]"));
  def("scalar", at_place<scalar>);
  def("shape", at_place<shape>);
  def("workers_of", at_place<workers_of>);
  def("saved_reductions", at_place<saved_reductions>);
  type.def("reduction", reduction, nb::arg("tensor"), nb::arg("step"), nb::arg("reduction"), nb::arg("abs"),
           nb::arg("mode"), nb::arg("worker"));
  type.def("tensor_names", tensor_names, nb::arg("include"), nb::arg("collection"), nb::arg("mode").none(),
           nb::arg("step").none())
      .def(
          "has_tensor",
          [](PythonTrial& self, std::string_view tensor) {
            return self.look([&](Trial& trial) { return trial.has_tensor(tensor); });
          },
          nb::arg("tensor"))
      .def(
          "tensor_info",
          [](PythonTrial& self, std::string_view tensor) {
            return value_or_raise(self.read([&](Trial& trial) { return trial.tensor_info(tensor); }));
          },
          nb::arg("tensor"))
      .def("collections", [](PythonTrial& self) { return self.look([](Trial& t) { return t.collections(); }); })
      .def("collection", collection, nb::arg("name"),
           nb::sig("def collection(self, name: str) -> tuple[str, list[str], list[str]]"));
}

}  // namespace

void bind_trial(nb::module_& module) {
  bind_records(module);
  nb::class_<PythonTrial> type(module, "Trial", "The trial in C++; trainwarden.Trial is the one to use.");
  type.def("__init__", open_trial, nb::arg("path"), nb::arg("incomplete_step_window"), nb::arg("verify"));
  bind_run(type);
  bind_steps(type);
  bind_metrics(type);
  bind_following(type);
  bind_tensors(type);
}

}  // namespace trainwarden::python
