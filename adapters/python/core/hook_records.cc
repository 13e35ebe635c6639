// What goes into a hook and what it returns, in Python: options, ends of steps, reports.
#include <map>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "modes.h"
#include "python_hook.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;

void bind_step_end(nb::module_& module) {
  nb::class_<StepEnd>(module, "StepEnd", "What Hook.step() returns.")
      .def_ro("global_step", &StepEnd::global_step, "Number of the step that just ended, from 0.")
      .def_prop_ro(
          "mode", [](const StepEnd& end) { return name(end.mode); }, "\"train\", \"eval\", ...")
      .def_ro("mode_step", &StepEnd::mode_step, "Its number within its mode, from 0.")
      .def_ro("stop_requested", &StepEnd::stop_requested, "Somebody asked the training to stop; stays true.")
      .def_prop_ro(
          "stop_reason", [](const StepEnd& end) { return std::string(end.stop_reason); }, "Why.")
      .def_ro("checkpoint_requested", &StepEnd::checkpoint_requested,
              "Somebody wants a checkpoint. With Hook.on_checkpoint() it has been made when step() returns.");
  nb::class_<CheckpointRequest>(module, "CheckpointRequest", "Somebody wants the training's state saved now.")
      .def_ro("key", &CheckpointRequest::key)
      .def_ro("reason", &CheckpointRequest::reason, "A sentence for people.")
      .def_ro("rule", &CheckpointRequest::rule, "The rule's id; empty when a person asks.")
      .def_ro("global_step", &CheckpointRequest::global_step, "That the reason speaks of; -1: none.")
      .def_ro("requested_by", &CheckpointRequest::requested_by, "\"watch-0\", \"user\"");
}

void bind_report(nb::module_& module) {
  nb::class_<CaptureLoss>(module, "CaptureLoss", "What was not kept for one cause.")
      .def_prop_ro("cause", [](const CaptureLoss& loss) { return name(loss.cause); })
      .def_ro("count", &CaptureLoss::count, "Tensors, statistics or scalars.")
      .def_ro("bytes", &CaptureLoss::bytes)
      .def_ro("first_message", &CaptureLoss::first_message);
  nb::class_<CaptureBill>(module, "CaptureBill", "What capture costs, and what is left out to keep to the budget.")
      .def_ro("budget", &CaptureBill::budget, "Share of the training's time, 0.01 is 1 %; 0: no limit.")
      .def_ro("training_ns", &CaptureBill::training_ns, "Wall time of the steps that have ended, capture included.")
      .def_ro("capture_ns", &CaptureBill::capture_ns, "Of it: capture on training threads, and CPU time beside.")
      .def_ro("interval_factor", &CaptureBill::interval_factor, "Save intervals are this many times as long.")
      .def_ro("dropped", &CaptureBill::dropped, "Forms that are left out: \"histogram\", \"hash\", \"values\".")
      .def_prop_ro("share", &CaptureBill::share, "capture_ns / training_ns.");
  nb::class_<BlackBoxReport>(module, "BlackBoxReport", "Of the black box.")
      .def_ro("on", &BlackBoxReport::on)
      .def_ro("bytes", &BlackBoxReport::bytes, "Of memory, at most.")
      .def_ro("spent_ns", &BlackBoxReport::spent_ns, "By training threads on copying into it.")
      .def_ro("missing", &BlackBoxReport::missing, "Tensors that found no room, over all steps.")
      .def_ro("steps_without_room", &BlackBoxReport::steps_without_room, "Not held, as all of it was being written.")
      .def_ro("given_up", &BlackBoxReport::given_up, "Collections that did not fit or were too dear.")
      .def_ro("dumps", &BlackBoxReport::dumps, "That were written, relative to the run's folder.");
  nb::class_<HookReport>(module, "HookReport", "What the hook did and cost so far.")
      .def_ro("steps", &HookReport::steps, "Steps that have ended.")
      .def_ro("kept_tensors", &HookReport::kept_tensors, "Tensors in the run's files, whole.")
      .def_ro("kept_bytes", &HookReport::kept_bytes, "Their bytes.")
      .def_ro("statistics", &HookReport::statistics, "Rows of statistics in the run's files.")
      .def_ro("scalars", &HookReport::scalars)
      .def_ro("reductions", &HookReport::reductions, "Single ones in the run's files.")
      .def_ro("training_thread_ns", &HookReport::training_thread_ns, "Time spent inside the hook by training threads.")
      .def_ro("bill", &HookReport::bill)
      .def_ro("black_box", &HookReport::black_box)
      .def_ro("vetoes", &HookReport::vetoes, "How often a step of an optimizer was to be left out.")
      .def_ro("on", &HookReport::on, "False once the hook was closed or has switched itself off.")
      .def_ro("off_reason", &HookReport::off_reason)
      .def_ro("losses", &HookReport::losses, "One for each cause that occurred.");
}

void set_first_steps(HookOptions& options, std::int64_t global_step, const std::map<std::string, std::int64_t>& modes) {
  options.first_global_step = global_step;
  for (const auto& [mode, step] : modes) options.first_mode_steps.at(index_of(mode_of(mode))) = step;
}

void bind_options(nb::module_& module) {
  nb::class_<HookOptions>(module, "HookOptions", "Checked options of a hook.")
      .def_prop_rw(
          "run_dir", [](const HookOptions& options) { return options.run_dir.string(); },
          [](HookOptions& options, std::string_view run_dir) { options.run_dir = run_dir; })
      .def_prop_ro("tensorboard_dir", [](const HookOptions& options) { return options.tensorboard_dir.string(); })
      .def_rw("rank", &HookOptions::rank)
      .def_rw("world_size", &HookOptions::world_size)
      .def_rw("labels", &HookOptions::labels)
      .def_rw("framework", &HookOptions::framework)
      .def("set_first_steps", set_first_steps, nb::arg("global_step"), nb::arg("mode_steps"),
           "Where counting begins: of all steps, and within each mode by its name.");
  module.def(
      "parse_options",
      [](std::string_view json, std::string_view source) { return value_or_raise(parse_hook_options(json, source)); },
      nb::arg("json"), nb::arg("source"), "Options from JSON (docs/reference/config.md).");
  module.def(
      "load_options", [](std::string_view file) { return value_or_raise(load_hook_options(file)); }, nb::arg("file"),
      "Options from a JSON file.");
  module.def(
      "parse_smdebug_config",
      [](std::string_view text, std::string_view source) { return value_or_raise(parse_smdebug_config(text, source)); },
      nb::arg("text"), nb::arg("source"), "What a hook configuration of smdebug's says, precedence applied, as JSON.");
  module.def(
      "options_for_attach", [] { return value_or_raise(hook_options_for_attach()); },
      "What is captured of a program that knows nothing of Trainwarden.");
  module.def(
      "options_from_environment",
      [](const HookOptions& base) { return value_or_raise(hook_options_from_environment(base)); }, nb::arg("base"),
      "The options, overlaid by TRAINWARDEN_CONFIG and the TRAINWARDEN_* variables.");
}

}  // namespace

void bind_hook_records(nb::module_& module) {
  bind_options(module);
  bind_step_end(module);
  bind_report(module);
}

}  // namespace trainwarden::python
