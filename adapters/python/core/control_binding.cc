// Requests to a training in Python. trainwarden/control.py has what users see.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "errors.h"
#include "interruption.h"
#include "python_control.h"
#include "trainwarden/control.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;

std::chrono::milliseconds time_of(double seconds) {
  constexpr double kLongestSeconds = 1e8;  // three years
  if (!(seconds >= 0)) throw nb::value_error("expected a time in seconds, from 0 on");
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(seconds, kLongestSeconds) * 1e3));
}

StopRequestOptions::Then then_of(std::string_view text) {
  using Then = StopRequestOptions::Then;
  if (text == "nothing") return Then::kNothing;
  if (text == "term") return Then::kTerm;
  if (text == "kill") return Then::kKill;
  const std::string problem = "then: expected nothing, term or kill, found \"" + std::string(text) + "\"";
  throw nb::value_error(problem.c_str());
}

// Without the GIL, and so that Ctrl-C ends the wait.
template <class Options, class Request>
auto ask(std::string_view run, Options options, Request request) {
  Interruption interruption;
  options.stop = interruption.token();
  options.idle = [&interruption] { interruption.look(); };
  const std::filesystem::path path(run);
  auto answer = [&] {
    const nb::gil_scoped_release no_gil;
    return request(path, options);
  }();
  interruption.rethrow();
  return value_or_raise(std::move(answer));
}

StopAnswer stop(std::string_view run, std::string reason, std::string requested_by, std::string key,
                std::string if_status, bool wait, double timeout_s, std::string_view then, double term_grace_s) {
  StopRequestOptions options;
  if (!reason.empty()) options.reason = std::move(reason);
  if (!requested_by.empty()) options.requested_by = std::move(requested_by);
  options.key = std::move(key);
  options.if_status = std::move(if_status);
  options.wait = wait;
  options.timeout = time_of(timeout_s);
  options.then = then_of(then);
  options.term_grace = time_of(term_grace_s);
  return ask(run, std::move(options), request_stop);
}

SaveAnswer save(std::string_view run, std::string reason, std::string requested_by, std::string key, bool wait,
                double timeout_s) {
  SaveRequestOptions options;
  if (!reason.empty()) options.reason = std::move(reason);
  if (!requested_by.empty()) options.requested_by = std::move(requested_by);
  options.key = std::move(key);
  options.wait = wait;
  options.timeout = time_of(timeout_s);
  return ask(run, std::move(options), request_save);
}

}  // namespace

void bind_control(nb::module_& module) {
  nb::class_<StopAnswer>(module, "StopAnswer", "What a training answers to a request to stop.")
      .def_ro("key", &StopAnswer::key, "Of the request.")
      .def_ro("status_before", &StopAnswer::status_before, "The run's TrainingJobStatus: \"InProgress\".")
      .def_ro("already", &StopAnswer::already, "It was stopping, or had ended, before anything was asked.")
      .def_ro("accepted", &StopAnswer::accepted, "It has said that it stops.")
      .def_ro("ended", &StopAnswer::ended, "Nobody writes the run any more.")
      .def_ro("story", &StopAnswer::story, "What happened, for people.");
  nb::class_<SaveAnswer>(module, "SaveAnswer", "What a training answers to a request to save.")
      .def_ro("key", &SaveAnswer::key, "Of the request.")
      .def_ro("saved", &SaveAnswer::saved, "The checkpoint is there.")
      .def_ro("checkpoint", &SaveAnswer::checkpoint,
              "Where: relative to the run's folder, absolute, or a URL; empty when the program keeps it to itself.")
      .def_ro("dumped", &SaveAnswer::dumped, "What the black box held is there.")
      .def_ro("black_box", &SaveAnswer::black_box, "Where, relative to the run's folder.")
      .def_ro("story", &SaveAnswer::story, "What happened, for people.");
  module.def("request_stop", stop, nb::arg("run"), nb::arg("reason"), nb::arg("requested_by"), nb::arg("key"),
             nb::arg("if_status"), nb::arg("wait"), nb::arg("timeout_s"), nb::arg("then"), nb::arg("term_grace_s"),
             "trainwarden.stop is the one to use.");
  module.def("request_save", save, nb::arg("run"), nb::arg("reason"), nb::arg("requested_by"), nb::arg("key"),
             nb::arg("wait"), nb::arg("timeout_s"), "trainwarden.save is the one to use.");
}

}  // namespace trainwarden::python
