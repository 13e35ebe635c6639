// BoxRecorder: the black box of a hook, if it has one: what goes into it, and when it is written.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "core/base/clock.h"
#include "hook/capture/black_box/black_box.h"
#include "hook/capture/black_box/box_dumper.h"
#include "hook/capture/black_box/crash_writer.h"
#include "hook/capture/budget/bill.h"
#include "hook/capture/capture_switch.h"
#include "hook/capture/known_tensors.h"
#include "hook/capture/staging/staging_area.h"
#include "hook/capture/writing/step_writer.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

// Without a black box every call does nothing. It must outlive the writer and every step that it was given.
class BoxRecorder {
 public:
  // All must outlive this, but for the writer.
  BoxRecorder(double budget, KnownTensors& tensors, StagingArea& staging, Bill& bill, const CaptureSwitch& state,
              StepWriter& writer)
      : budget_(budget), tensors_(tensors), staging_(staging), bill_(bill), state_(state), writer_(writer) {}

  // Before the first step. No steps in the options: there is none. Errors as of BlackBox::create().
  Status create(const BlackBoxOptions& options, std::optional<BoxHead> head, std::shared_ptr<storage::Storage> storage,
                const Clock& clock);
  // From now on the black box is written when the process dies on a signal, into this folder on this machine.
  void catch_signals(const std::filesystem::path& run_dir);
  void stop_catching_signals() { crash_writer_.reset(); }

  // From any thread. Does the black box hold the current step?
  bool is_filling() const { return box_ != nullptr && tensors_.plan().fills_black_box(); }
  // From any thread, while it is filling.
  void keep(TensorEntry& entry, const TensorView& view) { box_->keep(entry, view); }
  void keep_scalar(TensorEntry& entry, double value) { box_->keep_scalar(entry, value); }
  void remember(TensorEntry& entry, const TensorView& view) { box_->remember(entry, view); }

  // By the thread that drives training. A loss that was not finite has the box written.
  void begin_step(const StepId& id);
  void end_step(const StepId& id);
  // Has the writer thread write what the box holds now. True: it will, or this step is in what was written before.
  bool dump(const BlackBoxReason& reason);

  void add_to(BlackBoxReport& report) const;

 private:
  const double budget_;
  KnownTensors& tensors_;
  StagingArea& staging_;
  Bill& bill_;
  const CaptureSwitch& state_;
  StepWriter& writer_;
  std::unique_ptr<BlackBox> box_;  // none unless asked for
  std::unique_ptr<BoxDumper> dumper_;
  std::unique_ptr<CrashWriter> crash_writer_;
};

}  // namespace trainwarden::capture
