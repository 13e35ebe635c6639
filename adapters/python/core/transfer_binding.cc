// Exports and imports in Python. trainwarden/transfer.py has what users see.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "interruption.h"
#include "modes.h"
#include "python_trial.h"
#include "trainwarden/transfer.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;
using StepRangeTuple = std::tuple<std::int64_t, std::optional<std::int64_t>, std::int64_t>;

ExportFormat format_of(std::string_view text) {
  if (const auto format = parse_export_format(text)) return *format;
  const std::string problem =
      "expected smdebug, tensorboard, safetensors, npz, csv or json, found \"" + std::string(text) + "\"";
  throw nb::value_error(problem.c_str());
}

std::vector<StepRange> ranges_of(const std::vector<StepRangeTuple>& tuples) {
  std::vector<StepRange> ranges;
  for (const auto& [first, end, every] : tuples) {
    if (every < 1) throw nb::value_error("expected steps that rise");
    ranges.push_back({first, end, every});
  }
  return ranges;
}

std::vector<StepRangeTuple> parse_steps(std::string_view text) {
  std::vector<StepRangeTuple> tuples;
  for (const StepRange& range : value_or_raise(parse_step_ranges(text))) {
    tuples.emplace_back(range.first, range.end, range.every);
  }
  return tuples;
}

class PythonExport {
 public:
  PythonExport(PythonTrial& trial, ExportOptions options) : trial_(trial) {
    options.stop = interruption_.token();
    options.on_step = [this](std::int64_t) { interruption_.look(); };
    export_ = value_or_raise(trial_.read([&](Trial& t) { return Export::start(t, std::move(options)); }));
  }
  PythonExport(const PythonExport&) = delete;
  PythonExport& operator=(const PythonExport&) = delete;

  void poll() {
    const Status status = trial_.read([&](Trial&) { return open().poll(); });
    interruption_.rethrow();
    raise_if_error(status);
  }
  bool run_ended() {
    return trial_.look([&](Trial&) { return open().run_ended(); });
  }
  // Once; it is over with a failure, too.
  ExportReport finish() {
    const auto ending = trial_.read([&](Trial&) { return std::move(export_); });
    if (ending == nullptr) raise(is_over());
    return value_or_raise(trial_.read([&](Trial&) { return ending->finish(); }));
  }

 private:
  static Status is_over() { return Status(Code::kFailedPrecondition, "the export is finished"); }
  Export& open() {
    if (export_ != nullptr) return *export_;
    const nb::gil_scoped_acquire gil;
    raise(is_over());
  }

  PythonTrial& trial_;
  Interruption interruption_;
  std::unique_ptr<Export> export_;
};

void start_export(PythonExport* self, PythonTrial& trial, std::string_view to, std::string_view out,
                  std::vector<std::string> include, std::string collection, const std::vector<std::string>& modes,
                  const std::vector<StepRangeTuple>& steps, std::vector<std::string> workers,
                  std::vector<std::string> images, bool record_crc, bool force) {
  ExportOptions options;
  options.format = format_of(to);
  options.out = out;
  options.choice.include = std::move(include);
  options.choice.collection = std::move(collection);
  for (const std::string& mode : modes) options.choice.modes.push_back(mode_of(mode));
  options.choice.steps = ranges_of(steps);
  options.choice.workers = std::move(workers);
  options.images = std::move(images);
  options.record_crc = record_crc;
  options.force = force;
  new (self) PythonExport(trial, std::move(options));
}

ImportReport import_from(std::string_view from, std::string_view to) {
  const std::filesystem::path source(from);
  const std::filesystem::path target(to);
  Result<ImportReport> report = [&] {
    const nb::gil_scoped_release no_gil;
    return import_run(source, target);
  }();
  return value_or_raise(std::move(report));
}

void bind_records(nb::module_& module) {
  nb::class_<ExportNote>(module, "ExportNote", "Something that a format has no place for, or holds in another form.")
      .def_ro("cause", &ExportNote::cause)
      .def_ro("lost", &ExportNote::lost, "False: it is there in another form.")
      .def_ro("count", &ExportNote::count)
      .def_ro("first", &ExportNote::first, "The first of them: \"conv0.weight at step 3\".");
  nb::class_<ExportReport>(module, "ExportReport", "What an export wrote, and what its format could not hold.")
      .def_ro("steps", &ExportReport::steps, "Of all workers together.")
      .def_ro("records", &ExportReport::records, "Tensors, statistics, scalars and reductions.")
      .def_ro("files", &ExportReport::files)
      .def_ro("bytes", &ExportReport::bytes)
      .def_ro("damaged", &ExportReport::damaged, "Records that could not be read.")
      .def_ro("run_ended", &ExportReport::run_ended, "And all of it was exported.")
      .def_ro("notes", &ExportReport::notes);
  nb::class_<ImportReport>(module, "ImportReport", "What an import brought.")
      .def_ro("run_id", &ImportReport::run_id, "Of the new run.")
      .def_ro("workers", &ImportReport::workers, "The new name by the old one.")
      .def_ro("steps", &ImportReport::steps, "Of all workers together.")
      .def_ro("records", &ImportReport::records)
      .def_ro("source_ended", &ImportReport::source_ended, "False: what the source held so far is there.")
      .def_ro("losses", &ImportReport::losses, "What of the source could not be read.");
}

}  // namespace

void bind_transfer(nb::module_& module) {
  bind_records(module);
  module.def("parse_steps", parse_steps, nb::arg("text"), "First, end and stride of each range in \"0:1000,::10,5\".");
  module.def("import_run", import_from, nb::arg("source"), nb::arg("target"),
             "trainwarden.import_run is the one to use.");
  nb::class_<PythonExport>(module, "Export", "An export in C++; trainwarden.Exporter is the one to use.")
      .def("__init__", start_export, nb::arg("trial"), nb::arg("to"), nb::arg("out"), nb::arg("include"),
           nb::arg("collection"), nb::arg("modes"), nb::arg("steps"), nb::arg("workers"), nb::arg("images"),
           nb::arg("record_crc"), nb::arg("force"), nb::keep_alive<1, 2>())
      .def("poll", &PythonExport::poll)
      .def_prop_ro("run_ended", &PythonExport::run_ended)
      .def("finish", &PythonExport::finish);
}

}  // namespace trainwarden::python
