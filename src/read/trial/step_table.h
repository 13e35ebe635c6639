// StepTable: which steps are known, which are complete and which may still come. Arithmetic only, no files.
//
// Source: the step states of smdebug's Trial. A step is complete when every worker has ended it, or when a later step
// is complete: workers end their steps in order, so what is missing then never comes. Differences from there: a worker
// that will write no more is not waited for, and the window below counts steps, where smdebug compares a count with a
// step number and so never passes a straggler when only every 500th step is saved. Both hold for folders of smdebug's,
// too, where all that is known of a worker's end is the end of the run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/large_memory.h"
#include "trainwarden/mode.h"
#include "trainwarden/trial.h"

namespace trainwarden::trial {

struct StepRow {
  std::int64_t global_step = 0;
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = 0;
  friend bool operator==(const StepRow&, const StepRow&) = default;
};

// One thread at a time.
class StepTable {
 public:
  // `window`: how many steps may wait for a straggling worker. When more do, each settle() passes window/2 of them.
  StepTable(int worker_count, std::int64_t window);

  // How many workers there are: no step is complete before so many have ended it. Of smdebug's runs more may be seen.
  void set_worker_count(int worker_count);
  // For so many steps of the worker: their memory is then taken at once.
  void make_room(int worker, std::size_t steps);
  // The worker has ended this step. The same global step added again replaces what was said of it before.
  void add(int worker, const StepRow& step);
  // Will the worker end no more steps? Unless this was called, every worker may.
  void set_worker_ended(int worker, bool ended);
  // Has the run ended and has everything been added? Then all known steps are complete.
  void set_finished(bool finished) { finished_ = finished; }
  // Takes all of that in. Once for each refresh of the reader; the questions below are answered as of the last call.
  void settle();

  bool finished() const { return finished_; }
  std::int64_t last_complete_step() const { return last_complete_step_; }  // global, -1 when there is none
  bool is_complete(std::int64_t global_step) const;
  // By rising step. With kGlobal global steps, else steps of the mode.
  std::vector<std::int64_t> steps(Mode mode, bool include_incomplete) const;
  std::vector<std::int64_t> complete_steps_after(std::int64_t global_step) const;
  std::span<const StepRow> complete_rows_after(std::int64_t global_step) const;  // valid until the next settle()
  std::vector<Mode> modes() const;                      // seen, without kGlobal unless there is no other
  const StepRow* find(std::int64_t global_step) const;  // null when unknown; valid until the next settle()
  // The same, quicker for who goes from step to step: `before` is what was found last, or null.
  const StepRow* find(std::int64_t global_step, const StepRow* before) const;
  std::optional<std::int64_t> global_step(Mode mode, std::int64_t step) const;
  StepState state(std::int64_t step, Mode mode) const;

 private:
  // A step of one mode, or a global step standing for itself.
  struct ModeStep {
    std::int64_t step = 0;
    std::int64_t global_step = 0;
    friend auto operator<=>(const ModeStep&, const ModeStep&) = default;
  };
  struct Worker {
    bool ended = false;
    std::vector<std::int64_t, LargeAllocator<std::int64_t>>
        ahead;  // its steps after last_complete_step_, sorted by settle()
  };

  void merge_arrivals();
  std::size_t append_arrivals();
  std::size_t merge_among_known();
  void index_modes_from(std::size_t first);
  void advance_to_common_step();
  void pass_stragglers();
  Worker& worker_at(int worker);
  bool ended_by_all(std::int64_t global_step) const;
  std::size_t first_step_after(std::int64_t global_step) const;  // index into steps_
  std::optional<ModeStep> first_at_or_after(Mode mode, std::int64_t step) const;

  const std::int64_t window_;
  template <class T>
  using Long = std::vector<T, LargeAllocator<T>>;
  Long<StepRow> steps_;                       // known, by rising global step
  std::array<Long<ModeStep>, 4> mode_steps_;  // at index_of(mode), sorted; that of kGlobal stays empty
  Long<StepRow> arrivals_;                    // since the last settle()
  std::size_t worker_count_ = 0;
  std::vector<Worker> workers_;  // at least so many
  std::int64_t last_complete_step_ = -1;
  bool finished_ = false;
};

}  // namespace trainwarden::trial
