#include "local_case.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "oracle.h"
#include "read/trial/trial_access.h"
#include "sim_disk.h"
#include "sim_process.h"
#include "store/journal/journal_writer.h"
#include "store/journal/sample_run.h"
#include "watcher.h"

namespace trainwarden::torture {
namespace {

using journal::JournalWriter;
constexpr std::int64_t kMillisecondNs = 1'000'000;

class LocalCase {
 public:
  LocalCase(const CasePlan& plan, CaseLog& log) : plan_(plan), log_(log), dice_(plan.seed) {}

  void play() {
    choose_options();
    const int actions = std::min(static_cast<int>(dice_.between(10, 60)), plan_.most_actions);
    for (int i = 0; i < actions && log_.violations().empty(); ++i) {
      act();
      if (process_ && process_->fate().is_dead()) bury();
      clock_.advance(dice_.between(0, 400) * kMillisecondNs);
    }
    if (log_.violations().empty()) finish();
  }

 private:
  struct LiveWatcher {
    std::unique_ptr<SimProcess> process;
    std::unique_ptr<Watcher> watcher;
  };

  void choose_options();
  void act();
  void endanger();
  void start_writer();
  void append_step();
  Status append_in_parts(const journal::StepBatch& step);
  void append_event();
  void sync();
  void answered(const Status& status, Oracle& oracle, std::int64_t number);
  void end_writer();
  void try_second_writer();
  void watch();
  void bury();
  void look_back(std::string_view when);
  void lose_power();
  void finish();
  void check_losses(const std::vector<RunLoss>& losses, std::string_view reader);
  void check_trial();
  std::unique_ptr<SimProcess> process(std::string name) {
    return std::make_unique<SimProcess>(std::move(name), disk_, clock_, plan_, dice_, log_);
  }

  const CasePlan& plan_;
  CaseLog& log_;
  Dice dice_;
  SimClock clock_;
  SimDisk disk_{plan_, clock_, dice_, log_};
  Oracle steps_{"step"}, events_{"event"};
  journal::JournalOptions options_ = journal::sample_journal_options();
  int lives_ = 0;
  bool named_ = false;
  int unended_steps_ = 0;                // that have parts
  bool is_calm_ = false;                 // no more faults come
  std::unique_ptr<SimProcess> process_;  // of the writer
  std::unique_ptr<JournalWriter> writer_;
  std::vector<LiveWatcher> watchers_;
  std::vector<std::int64_t> last_found_;  // steps, when the whole was last read
};

void LocalCase::choose_options() {
  options_.segment_bytes = static_cast<std::uint64_t>(dice_.between(2'000, 20'000));
  const std::uint64_t durability = dice_.roll(3);
  options_.sync_each_step = durability == 1;
  options_.sync_each_segment = durability == 2;
  if (dice_.one_in(4)) options_.segment_age_ns = 1'000'000'000;
  log_.note("segments of {} bytes, {}", options_.segment_bytes,
            durability == 0   ? "synced when asked to"
            : durability == 1 ? "synced at each step"
                              : "synced with each segment");
}

void LocalCase::act() {
  const std::uint64_t dice = dice_.roll(100);
  if (dice >= 76 && dice < 88) return watch();
  if (dice >= 88) return endanger();
  if (!writer_) return start_writer();
  if (dice < 42) return append_step();
  if (dice < 58) return append_event();
  if (dice < 65) return sync();
  if (dice < 68) {
    log_.note("seal: {}", writer_->seal().to_string());
  } else if (dice < 70) {
    log_.note("change collections: {}", writer_->change_collections(options_.collections).to_string());
  } else if (dice < 73) {
    end_writer();
  } else {
    try_second_writer();
  }
}

void LocalCase::endanger() {
  const std::uint64_t dice = dice_.roll(8);
  const auto calls = static_cast<std::int64_t>(dice_.roll(6));
  if (plan_.kind == Kind::kPower && dice < 2) return lose_power();
  if (plan_.kind == Kind::kFull || dice == 7) {
    constexpr Code kCodes[] = {Code::kUnavailable, Code::kResourceExhausted, Code::kInternal};
    const Code code = kCodes[dice_.roll(3)];
    if (dice < 2) {
      disk_.set_room(dice_.roll(6'000));
      if (plan_.leaves_out(FaultSort::kFullDisk)) disk_.set_room(SimDisk::kEndless);
      return log_.note("the disk has {} bytes left", disk_.room());
    }
    if (dice < 4) {
      disk_.set_room(SimDisk::kEndless);
      return log_.note("the disk has room again");
    }
    if (process_ && dice < 5) return process_->fate().fail_sync();
    if (process_ && dice < 7) return process_->fate().fail_write_at(calls, code);
    if (!watchers_.empty()) watchers_[dice_.roll(watchers_.size())].process->fate().fail_read_at(calls);
    return;
  }
  if (process_) process_->fate().kill_at(calls);
}

void LocalCase::start_writer() {
  process_ = process(fmt::format("writer {}", ++lives_));
  if (!is_calm_ && plan_.kind == Kind::kKill && dice_.one_in(4)) {
    process_->fate().kill_at(static_cast<std::int64_t>(dice_.roll(8)));  // while it starts
  }
  named_ = false;
  steps_.begin_life();
  events_.begin_life();
  const auto run = journal::create_or_join_run(*process_, journal::sample_run_info());
  auto writer = run.ok() ? JournalWriter::open(*process_, clock_, *run, options_)
                         : Result<std::unique_ptr<JournalWriter>>(run.status());
  log_.note("{} starts: {}", process_->fate().name(), writer.status().to_string());
  if (writer.ok()) {
    writer_ = *std::move(writer);
  } else if (!process_->fate().is_dead()) {
    process_.reset();
  }
}

void LocalCase::answered(const Status& status, Oracle& oracle, std::int64_t number) {
  if (!status.ok()) return;
  oracle.acknowledge(number, process_->last_file());
  if (!options_.sync_each_step) return;
  steps_.synced();
  events_.synced();
}

void LocalCase::append_step() {
  const std::int64_t number = steps_.attempt();
  const auto step = journal::small_step(number, !std::exchange(named_, true));
  const Status status = dice_.one_in(3) ? append_in_parts(step->batch()) : writer_->append_step(step->batch());
  log_.note("append step {}: {}", number, status.to_string());
  answered(status, steps_, number);
}

// Who is told that a part is lost writes no end for it.
Status LocalCase::append_in_parts(const journal::StepBatch& step) {
  journal::StepBatch part;
  part.global_step = step.global_step;
  part.mode = step.mode;
  part.mode_step = step.mode_step;
  part.new_names = step.new_names;
  part.tensors = step.tensors;
  ++unended_steps_;
  const Status status = writer_->append_part(part);
  log_.note("append a part of step {}: {}", step.global_step, status.to_string());
  if (!status.ok()) return status;
  if (dice_.one_in(3)) append_event();
  if (!writer_->holds_parts()) return Status(Code::kUnavailable, "its part is lost");
  journal::StepBatch end = step;
  end.new_names.clear();
  end.tensors.clear();
  const Status ended = writer_->append_step(end);
  if (ended.ok()) --unended_steps_;
  return ended;
}

void LocalCase::append_event() {
  const std::int64_t number = events_.attempt();
  const Status status = writer_->append_event(format::FrameKind::kEvent, -1, event_text(number));
  log_.note("append event {}: {}", number, status.to_string());
  answered(status, events_, number);
}

void LocalCase::sync() {
  process_->fate().take_synced_file();
  const Status status = writer_->sync();
  log_.note("sync: {}", status.to_string());
  if (!status.ok()) {
    steps_.sync_failed();
    events_.sync_failed();
    return;
  }
  const bool covers_all = options_.sync_each_step || options_.sync_each_segment;
  const std::string file = covers_all ? "" : process_->fate().take_synced_file();
  if (!covers_all && file.empty()) return;  // no segment is open
  steps_.synced(file);
  events_.synced(file);
}

void LocalCase::end_writer() {
  const Status status = writer_->seal();
  log_.note("the writer ends: {}", status.to_string());
  writer_.reset();
  if (!process_->fate().is_dead()) process_.reset();
}

void LocalCase::try_second_writer() {
  const auto rival = process("a rival");
  const auto opened = JournalWriter::open(*rival, clock_, journal::sample_run_info(), options_);
  log_.note("a rival opens the journal: {}", opened.status().to_string());
  if (opened.ok()) log_.violate("two processes write one journal");
}

void LocalCase::watch() {
  if (watchers_.size() < 2 || dice_.one_in(8)) {
    if (watchers_.size() == 2) watchers_.erase(watchers_.begin());
    LiveWatcher added;
    added.process = process(fmt::format("reader {}", dice_.roll(1'000)));
    added.watcher = std::make_unique<Watcher>(added.process->fate().name(), *added.process, true, log_);
    watchers_.push_back(std::move(added));
  }
  LiveWatcher& one = watchers_[dice_.roll(watchers_.size())];
  const Status status = one.watcher->look();
  log_.note("{} looks: {}, {} steps", one.process->fate().name(), status.to_string(), one.watcher->steps().size());
  // Zeros that a power loss has left are waited for until the next writer begins a segment, or ends.
  const bool may_wait = writer_ != nullptr && log_.count(FaultSort::kLostBytes) > 0;
  if (status.ok()) one.watcher->check(steps_, events_, !may_wait);
  check_losses(one.watcher->losses(), one.process->fate().name());
}

// The process has died. What it left is looked at, and what was not there will not come.
void LocalCase::bury() {
  writer_.reset();
  process_.reset();
  look_back("after a death");
}

void LocalCase::look_back(std::string_view when) {
  const auto fresh = process(fmt::format("who reads {}", when));
  Watcher watcher(fresh->fate().name(), *fresh, false, log_);
  const Status status = watcher.look();
  if (!status.ok()) return log_.violate(fmt::format("the journal cannot be read {}: {}", when, status.to_string()));
  log_.note("{}: {} steps, {} events, {} losses", when, watcher.steps().size(), watcher.events().size(),
            watcher.losses().size());
  watcher.check(steps_, events_, true);
  check_losses(watcher.losses(), fresh->fate().name());
  last_found_ = watcher.steps();
  steps_.settle(watcher.steps());
  events_.settle(watcher.events());
}

void LocalCase::lose_power() {
  if (plan_.leaves_out(FaultSort::kPowerLoss)) return;
  if (process_) process_->fate().die();
  writer_.reset();
  process_.reset();
  watchers_.clear();
  disk_.lose_power();
  steps_.lose_power();
  events_.lose_power();
  look_back("after a power loss");
}

void LocalCase::finish() {
  log_.note("no more faults");
  disk_.set_room(SimDisk::kEndless);
  if (process_) process_->fate().spare();
  for (const LiveWatcher& one : watchers_) one.process->fate().spare();
  clock_.advance(11'000 * kMillisecondNs);  // the writer leaves a disk alone that fails, for ten seconds at most
  is_calm_ = true;
  if (!writer_) start_writer();
  if (!writer_) return log_.violate("no writer can go on with the journal");
  const std::uint64_t before = steps_.acknowledged();
  append_step();
  if (steps_.acknowledged() == before) log_.violate("nothing can be written any more");
  sync();
  end_writer();
  for (const LiveWatcher& one : watchers_) {
    const Status status = one.watcher->look();
    if (!status.ok()) log_.violate(one.process->fate().name() + " cannot read: " + status.to_string());
    one.watcher->check(steps_, events_, true);
  }
  watchers_.clear();
  if (plan_.kind != Kind::kKill) lose_power();
  look_back("at the end");
  check_trial();
}

// A loss that is told needs a cause that this case has put in.
void LocalCase::check_losses(const std::vector<RunLoss>& losses, std::string_view reader) {
  log_.count_losses(losses.size());
  const std::uint64_t torn =
      log_.count(FaultSort::kTornWrite) + log_.count(FaultSort::kShortWrite) + log_.count(FaultSort::kFullDisk);
  const std::uint64_t lost = log_.count(FaultSort::kLostBytes) + log_.count(FaultSort::kLostName);
  for (const RunLoss& loss : losses) {
    const bool is_end = loss.cause == "torn tail" || loss.cause == "data of a step without its end";
    if (lost > 0 || (torn > 0 && is_end)) continue;
    if (unended_steps_ > 0 && loss.cause == "data of a step without its end") continue;
    log_.violate(fmt::format("{} tells a loss that never was: {} in {}", reader, loss.cause, loss.where));
  }
}

void LocalCase::check_trial() {
  const auto shared = std::make_shared<SimProcess>("the trial", disk_, clock_, plan_, dice_, log_);
  const auto trial = TrialAccess::open(storage::Location(shared, "run"), {}, clock_);
  if (!trial.ok()) return log_.violate("the run cannot be opened: " + trial.status().to_string());
  std::vector<std::int64_t> found;
  for (const std::int64_t step : (*trial)->steps(Mode::kGlobal, true)) {
    const auto value = (*trial)->scalar(journal::sample_name(2), step);
    if (value.ok() && *value == static_cast<double>(step)) found.push_back(step);
  }
  // A step of which a part is damaged is one to a trial: it has the rest, and hears of the damage when it reads that
  // part.
  std::vector<std::int64_t> whole;
  std::set_intersection(found.begin(), found.end(), last_found_.begin(), last_found_.end(), std::back_inserter(whole));
  steps_.check(whole, true, !(*trial)->losses().empty(), "the trial", log_);
  if (!found.empty() && found.back() >= static_cast<std::int64_t>(steps_.attempts())) {
    log_.violate("the trial has found a step that nobody wrote");
  }
  if ((*trial)->state() == RunState::kRunning) log_.violate("the trial says that a run goes on which nobody writes");
}

}  // namespace

void play_local(const CasePlan& plan, CaseLog& log) {
  LocalCase(plan, log).play();
}

}  // namespace trainwarden::torture
