// Hook in Python. trainwarden/hook.py has the class that users see.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "hook/capture/idle_steps.h"
#include "memory_argument.h"
#include "modes.h"
#include "python_hook.h"
#include "reductions.h"
#include "tensor_argument.h"
#include "trainwarden/guard.h"
#include "waiting.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;
constexpr double kCloseTimeoutS = 30;

Status flush_until(PythonHook& self, WaitClock::time_point deadline) {
  return wait_until(deadline, [&](std::chrono::milliseconds timeout) {
    const Turn turn(self.turn());
    const nb::gil_scoped_release no_gil;
    return self.hook().flush(timeout);
  });
}

void flush(PythonHook& self, double timeout_s) {
  raise_if_error(flush_until(self, deadline_in(timeout_s)));
}

// Flushes first, in a way that Ctrl-C can end.
void close(PythonHook& self) {
  const Status flushed = flush_until(self, deadline_in(kCloseTimeoutS));
  const Turn turn(self.turn());
  Status closed;
  {
    const nb::gil_scoped_release no_gil;
    closed = self.hook().close();
  }
  raise_if_error(closed);
  raise_if_error(flushed);
}

// Who wants a checkpoint is answered here, by the method in Python: on all other steps this costs a comparison.
template <class End>
StepEnd end_by(PythonHook& self, End end_now) {
  StepEnd end;
  {
    const Turn turn(self.turn());
    end = self.call(end_now);
  }
  if (end.checkpoint_requested) nb::find(self).attr("_answer_checkpoint")(end.global_step);
  return end;
}

StepEnd end_step(PythonHook& self) {
  return end_by(self, [](Hook& hook) { return hook.end_step(); });
}

StepEnd end_steps(PythonHook& self, std::int64_t steps) {
  if (steps < 1) throw nb::value_error("expected at least one step");
  return end_by(self, [&](Hook& hook) { return hook.end_steps(steps); });
}

void begin_steps(PythonHook& self, std::int64_t steps) {
  const Turn turn(self.turn());
  self.call([&](Hook& hook) { hook.begin_steps(steps); });
}

// For steps of which nothing is wanted: a comparison in place of all that step() does.
bool end_idle_step(PythonHook& self) {
  if (self.guarded()) return false;
  const Turn turn(self.turn());
  return capture::end_idle_step(self.hook());
}

void offer_checkpoints(PythonHook& self) {
  const Turn turn(self.turn());
  self.hook().offer_checkpoints();
}

std::optional<CheckpointRequest> take_checkpoint_request(PythonHook& self) {
  const Turn turn(self.turn());
  return self.hook().take_checkpoint_request();
}

void answer_checkpoint(PythonHook& self, const CheckpointRequest& request, std::string_view path,
                       std::string_view error) {
  const Turn turn(self.turn());
  if (error.empty()) return self.hook().answer_checkpoint(request, std::filesystem::path(path));
  self.hook().answer_checkpoint(request, Status(Code::kAborted, std::string(error)));
}

// Syncing a large file takes its time: other threads of Python run meanwhile.
std::string write_checkpoint(PythonHook& self, std::string_view ending, const nb::callable& write) {
  std::exception_ptr raised;
  Result<std::filesystem::path> written = Status(Code::kAborted, "not written");
  {
    const nb::gil_scoped_release no_gil;
    written = self.hook().write_checkpoint(ending, [&](const std::filesystem::path& file) {
      const nb::gil_scoped_acquire gil;
      try {
        write(file.string());
        return Status();
      } catch (...) {
        raised = std::current_exception();
        return Status(Code::kAborted, "raised");
      }
    });
  }
  if (raised) std::rethrow_exception(raised);
  return value_or_raise(std::move(written)).string();
}

void install_guard(PythonHook& self, const std::vector<std::string>& rules, std::string_view on_fire, bool keep_going,
                   double time_limit_s, std::vector<std::string> mute) {
  GuardOptions options;
  options.on_fire = value_or_raise(parse_on_fire(on_fire));
  options.keep_going = keep_going;
  options.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(time_limit_s * 1e3));
  options.mute = std::move(mute);
  const Turn turn(self.turn());
  raise_if_error(Guard::install(self.hook(), value_or_raise(Guard::parse_rules(rules)), options));
  self.set_guarded();
}

void install_guard_from_environment(PythonHook& self) {
  const Turn turn(self.turn());
  raise_if_error(Guard::install_from_environment(self.hook()));
  if (std::getenv("TRAINWARDEN_GUARD_RULES") != nullptr) self.set_guarded();  // else nothing was installed
}

// Without the GIL: rules take their time, and tensors of a GPU are waited for.
std::string_view judge(PythonHook& self) {
  if (!self.guarded()) return name(StepAdvice::kProceed);
  const Turn turn(self.turn());
  const nb::gil_scoped_release no_gil;
  return name(self.hook().judge_step());
}

void set_mode(PythonHook& self, std::string_view mode) {
  const Mode wanted = mode_of(mode);
  const Turn turn(self.turn());
  self.call([&](Hook& hook) { hook.set_mode(wanted); });
}

std::uint32_t declare(PythonHook& self, std::string_view name, const std::vector<std::string_view>& collections) {
  return self.hook().declare(name, collections).value;
}

// Names and numbers of tensors are taken alike.
template <class Target>
void save(PythonHook& self, Target target, nb::handle value) {
  if (!self.hook().wants(target)) return;
  TensorArgument argument = tensor_argument(value);
  if (const auto* tensor = std::get_if<BorrowedTensor>(&argument)) {
    self.offer(tensor->view.packed_bytes(), [&](Hook& hook) { hook.save_tensor(target, tensor->view); });
  } else if (const auto* texts = std::get_if<BorrowedStrings>(&argument)) {
    self.call([&](Hook& hook) { hook.save_tensor(target, texts->view()); });
  } else {
    self.call([&](Hook& hook) { hook.save_tensor(target, unreadable_view()); });
  }
}

void save_by_name(PythonHook& self, std::string_view name, nb::handle value) {
  save(self, name, value);
}
void save_by_id(PythonHook& self, std::uint32_t id, nb::handle value) {
  save(self, TensorId{id}, value);
}

void save_strings(PythonHook& self, std::string_view name, const std::vector<std::string_view>& strings) {
  self.call([&](Hook& hook) { hook.save_strings(name, strings); });
}

void save_scalar(PythonHook& self, std::string_view name, double value) {
  self.call([&](Hook& hook) { hook.save_scalar(name, value); });
}

void observe(PythonHook& self, std::uint32_t id, nb::handle value) {
  TensorArgument argument = tensor_argument(value);
  if (const auto* tensor = std::get_if<BorrowedTensor>(&argument)) {
    self.offer(tensor->view.packed_bytes(), [&](Hook& hook) { hook.save_observation(TensorId{id}, tensor->view); });
  } else if (const auto* texts = std::get_if<BorrowedStrings>(&argument)) {
    self.call([&](Hook& hook) { hook.save_observation(TensorId{id}, texts->view()); });
  } else {
    self.call([&](Hook& hook) { hook.save_observation(TensorId{id}, unreadable_view()); });
  }
}

void save_step_times(PythonHook& self) {
  self.call([](Hook& hook) { hook.save_step_times(); });
}

template <class Target>
void save_reductions(PythonHook& self, const Target& target, const std::vector<ReductionTuple>& reductions) {
  const std::vector<SavedReduction> saved = reductions_of(reductions);
  self.call([&](Hook& hook) { hook.save_reductions(target, saved); });
}

void save_reductions_by_name(PythonHook& self, std::string_view name, const std::vector<ReductionTuple>& reductions) {
  save_reductions(self, name, reductions);
}
void save_reductions_by_id(PythonHook& self, std::uint32_t id, const std::vector<ReductionTuple>& reductions) {
  save_reductions(self, TensorId{id}, reductions);
}

void save_memory(PythonHook& self, std::uint32_t id, std::uintptr_t data_ptr, int dtype, nb::handle shape,
                 nb::handle strides, int device_type, int device_index, std::uintptr_t stream) {
  if (!self.hook().wants(TensorId{id})) return;
  const MemoryArgument memory{dtype, shape, strides, device_type, device_index};
  TensorView view = memory.view();
  view.data = reinterpret_cast<const void*>(data_ptr);
  view.stream = reinterpret_cast<void*>(stream);
  self.offer(view.packed_bytes(), [&](Hook& hook) { hook.save_tensor(TensorId{id}, view); });
}

// For the black box alone.
void remember(PythonHook& self, std::string_view name, nb::handle value) {
  if (!self.hook().remembers()) return;
  TensorArgument argument = tensor_argument(value);
  const auto* tensor = std::get_if<BorrowedTensor>(&argument);
  const TensorView view = tensor != nullptr ? tensor->view : unreadable_view();
  self.offer(tensor != nullptr ? view.packed_bytes() : 0, [&](Hook& hook) { hook.remember(name, view); });
}

bool dump_black_box(PythonHook& self, std::string message, std::string kind, std::string rule,
                    std::int64_t failing_step) {
  const BlackBoxReason reason{.kind = std::move(kind),
                              .message = std::move(message),
                              .rule = std::move(rule),
                              .failing_step = failing_step,
                              .key = {}};
  return self.call([&](Hook& hook) { return hook.dump_black_box(reason); });
}

void open_hook(PythonHook* self, std::optional<HookOptions> options) {
  new (self) PythonHook(options ? value_or_raise(Hook::open(*std::move(options))) : Hook::disabled());
}

// What is wanted.
void bind_wants(nb::class_<PythonHook>& type) {
  type.def("declare", declare, nb::arg("name"), nb::arg("collections") = nb::tuple(),
           "The tensor's number, by which it is cheaper to save; made a member of the collections.")
      .def(
          "wants", [](PythonHook& self, std::uint32_t id) { return self.hook().wants(TensorId{id}); },
          nb::arg("tensor"))
      .def(
          "wants", [](PythonHook& self, std::string_view name) { return self.hook().wants(name); }, nb::arg("tensor"),
          "Is the tensor, by name or number, wanted at the current step?")
      .def(
          "wants_any",
          [](PythonHook& self, const std::vector<std::uint32_t>& ids) {
            return std::any_of(ids.begin(), ids.end(),
                               [&](std::uint32_t id) { return self.hook().wants(TensorId{id}); });
          },
          nb::arg("ids"), "Is one of these tensors, by number, wanted at the current step?")
      .def(
          "wants_collection",
          [](PythonHook& self, std::string_view name) { return self.hook().wants_collection(name); }, nb::arg("name"),
          "Would any tensor of the collection be wanted at the current step?")
      .def(
          "wants_anything", [](PythonHook& self) { return self.hook().wants_anything(); },
          "Is any tensor at all wanted at the current step?")
      .def(
          "wants_only_losses", [](PythonHook& self) { return self.hook().wants_only_losses(); },
          "Are losses all that is wanted at the current step, while signals are kept at others?")
      .def(
          "next_wanted_step",
          [](PythonHook& self, std::uint32_t id) { return self.hook().next_wanted_step(TensorId{id}); },
          nb::arg("tensor"), "The first step, of the current mode and from the current one on, at which it is wanted.")
      .def(
          "add_cost_ns",
          [](PythonHook& self, std::int64_t spent_ns) { self.hook().add_cost(std::chrono::nanoseconds(spent_ns)); },
          nb::arg("spent_ns"), "Adds to the bill what capture cost the training outside the hook's own calls.");
}

void bind_saving(nb::class_<PythonHook>& type) {
  type.def("save_tensor", save_by_name, nb::arg("tensor"), nb::arg("value").none())
      .def("save_tensor", save_by_id, nb::arg("tensor"), nb::arg("value").none(),
           "Keeps the tensor, by name or number, when it is wanted at the current step.")
      .def("save_strings", save_strings, nb::arg("name"), nb::arg("strings"))
      .def("save_scalar", save_scalar, nb::arg("name"), nb::arg("value"), "Kept at every step, as a float64.")
      .def("observe", observe, nb::arg("id"), nb::arg("value"),
           "For adapters: keeps it at this step, whatever the policies and the budget say.")
      .def("save_step_times", save_step_times,
           "Keeps how long each train step took since this was last kept, as trainwarden/step_times (docs/format/"
           "signals.md). The first call only begins to measure.")
      .def("save_reductions", save_reductions_by_name, nb::arg("tensor"), nb::arg("reductions"))
      .def("save_reductions", save_reductions_by_id, nb::arg("tensor"), nb::arg("reductions"),
           "Keeps numbers that the caller has computed of the tensor, as (reduction, abs, value), when it is wanted.")
      .def("save_memory", save_memory, nb::arg("id"), nb::arg("data_ptr"), nb::arg("dtype"), nb::arg("shape"),
           nb::arg("strides").none() = nb::none(), nb::arg("device_type") = 1, nb::arg("device_index") = 0,
           nb::arg("stream") = 0,
           nb::sig("def save_memory(self, id: int, data_ptr: int, dtype: int, shape: tuple[int, ...], "
                   "strides: tuple[int, ...] | None = None, device_type: int = 1, device_index: int = 0, "
                   "stream: int = 0) -> None"),
           "For adapters: the tensor of this number lies at this address.")
      .def(
          "begin_group", [](PythonHook& self) { self.hook().begin_group(); },
          "GPU tensors saved until end_group() stay as they are until then.")
      .def(
          "end_group", [](PythonHook& self) { self.hook().end_group(); },
          "They are read together: one launch in place of many.");
}

void bind_black_box(nb::class_<PythonHook>& type) {
  type.def_prop_ro(
          "remembers", [](PythonHook& self) { return self.hook().remembers(); },
          "Does a black box hold the current step? Ask before computing what only it is to have.")
      .def("remember", remember, nb::arg("name"), nb::arg("value").none(),
           "Keeps numbers of the open step for the black box alone: states of random generators, sample numbers.")
      .def("dump_black_box", dump_black_box, nb::arg("message"), nb::arg("kind") = "request", nb::arg("rule") = "",
           nb::arg("failing_step") = -1,
           "Has the steps that are held written into the run's folder blackbox/; flush() waits for it. False: there is "
           "nothing to write.");
}

void bind_checkpoints(nb::class_<PythonHook>& type) {
  type.def("offer_checkpoints", offer_checkpoints,
           "Says that this program looks for requests itself, by StepEnd.checkpoint_requested; on_checkpoint() does.")
      .def("take_checkpoint_request", take_checkpoint_request,
           "The request that wants a checkpoint now; one answer is for all that wait. None: nobody asks.")
      .def("answer_checkpoint", answer_checkpoint, nb::arg("request"), nb::arg("path"), nb::arg("error") = "",
           "What became of it: where it is (empty: unknown), or why nothing was saved.")
      .def("write_checkpoint", write_checkpoint, nb::arg("ending"), nb::arg("write"),
           nb::sig("def write_checkpoint(self, ending: str, write: collections.abc.Callable[[str], object]) -> str"),
           "Has write(file) write a new file, and puts it into the run's folder, whole or not at all, as "
           "checkpoints/step-000123-rank-00000<ending>. Gives its path; raises what write raises.");
}

// Steps, and what the hook says of itself.
void bind_steps(nb::class_<PythonHook>& type) {
  type.def("step", end_step, "Ends the step: it is handed to the writer, and readers see it soon.")
      .def("begin_steps", begin_steps, nb::arg("steps"),
           "Before a call that computes so many steps, of which only the last is seen: until the open step ends, what "
           "is "
           "wanted at one of them is wanted.")
      .def("end_steps", end_steps, nb::arg("steps"),
           "Ends so many steps that one call has computed. What was saved is of the last.")
      .def("end_idle_step", end_idle_step,
           "For adapters: ends the step if that is nothing but counting. False: it has not ended, step() is to be "
           "called.")
      .def_prop_ro(
          "is_guarded", [](PythonHook& self) { return self.guarded(); }, "Do rules judge inside the training?")
      .def_prop_ro(
          "wants_operators", [](PythonHook& self) { return self.hook().wants_operators(); },
          "For adapters: are the operators of the framework to be recorded in this step?")
      .def(
          "take_examination", [](PythonHook& self) { return self.hook().take_examination(); },
          "For adapters: so many train steps somebody wants examined now, and has wanted since the last call; 0: none.")
      .def_prop_ro(
          "python_stacks_hz", [](PythonHook& self) { return self.hook().options().python_stacks_hz; },
          "For adapters: how often in a second stacks of Python are sampled in these steps; 0: never.")
      .def("set_mode", set_mode, nb::arg("mode"))
      .def("install_guard", install_guard, nb::arg("rules"), nb::arg("on_fire"), nb::arg("keep_going"),
           nb::arg("time_limit_s"), nb::arg("mute"), "From now on these rules judge inside the training.")
      .def("install_guard_from_environment", install_guard_from_environment,
           "Those of TRAINWARDEN_GUARD_RULES, if it is set.")
      .def("judge_step", judge, "\"proceed\", \"skip_step\" or \"stop\": what is to become of an optimizer's step.")
      .def_prop_ro("judge_reason", [](PythonHook& self) { return std::string(self.hook().judge_reason()); })
      .def("flush", flush, nb::arg("timeout_s") = 30.0, "Waits until every ended step is in the run's files.")
      .def("close", close, "Ends an open step, writes everything out and seals the run. Again: nothing.")
      .def("report", [](PythonHook& self) { return self.hook().report(); })
      .def_prop_ro("current_mode", [](PythonHook& self) { return name(self.hook().mode()); })
      .def_prop_ro("global_step", [](PythonHook& self) { return self.hook().global_step(); })
      .def_prop_ro("mode_step", [](PythonHook& self) { return self.hook().mode_step(); })
      .def_prop_ro("run_dir", [](PythonHook& self) { return self.hook().options().run_dir.string(); })
      .def_prop_ro("rank", [](PythonHook& self) { return self.hook().options().rank; })
      .def_prop_ro("world_size", [](PythonHook& self) { return self.hook().options().world_size; });
}

}  // namespace

void bind_hook(nb::module_& module) {
  nb::class_<PythonHook> type(module, "Hook", "The hook in C++; trainwarden.Hook is the one to use.");
  type.def("__init__", open_hook, nb::arg("options").none(), "Without options the hook is switched off.");
  bind_wants(type);
  bind_saving(type);
  bind_hook_parts(type);
  bind_black_box(type);
  bind_checkpoints(type);
  bind_steps(type);
}

}  // namespace trainwarden::python
