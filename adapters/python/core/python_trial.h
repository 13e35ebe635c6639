// PythonTrial: a trial as Python threads use it.
#pragma once

#include <memory>
#include <utility>

#include <nanobind/nanobind.h>

#include "trainwarden/trial.h"
#include "turn.h"

namespace trainwarden::python {

class PythonTrial {
 public:
  explicit PythonTrial(std::unique_ptr<Trial> trial) : trial_(std::move(trial)) {}

  Trial& trial() const { return *trial_; }
  TurnMutex& turn() { return turn_; }

  // Calls something that may read files: alone, and without the GIL.
  template <class Read>
  auto read(Read read) {
    const Turn turn(turn_);
    const nanobind::gil_scoped_release no_gil;
    return read(*trial_);
  }
  // Something that only looks at what has been read.
  template <class Look>
  auto look(Look look) {
    const Turn turn(turn_);
    return look(*trial_);
  }

 private:
  const std::unique_ptr<Trial> trial_;
  TurnMutex turn_;
};

// The parts of the module.
void bind_trial(nanobind::module_& module);
void bind_statistics(nanobind::module_& module);
void bind_rules(nanobind::module_& module);
void bind_describe(nanobind::module_& module);
void bind_answers(nanobind::module_& module);
void bind_transfer(nanobind::module_& module);
void bind_places(nanobind::module_& module);

}  // namespace trainwarden::python
