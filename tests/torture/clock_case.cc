#include "clock_case.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "oracle.h"
#include "read/retention/gc_plan.h"
#include "read/retention/run_removal.h"
#include "share.h"
#include "store/journal/journal_writer.h"
#include "store/journal/sample_run.h"
#include "store/storage/folder_edits.h"
#include "store/storage/lease.h"
#include "store/storage/location.h"
#include "watcher.h"

namespace trainwarden::torture {
namespace {

using journal::JournalWriter;
constexpr std::int64_t kBeatNs = 5 * kSecondNs;    // a writer thread is never longer without one
constexpr std::int64_t kAliveNs = 45 * kSecondNs;  // after its last beat nobody may take it for dead, lags and all
constexpr std::int64_t kYearNs = std::int64_t{365} * 86'400 * kSecondNs;
constexpr const char* kRun = "first";

// Never changes anything: that a run would be removed is what the case wants to know.
class ToldEdits final : public storage::FolderEdits {
 public:
  Status rename(const std::string&, const std::string&) override {
    was_asked_ = true;
    return not_done();
  }
  Status replace_file(const std::string&, const std::string&) override { return not_done(); }
  Status remove_file(const std::string&) override { return not_done(); }
  Status remove_folder(const std::string&) override { return not_done(); }
  bool was_asked() const { return was_asked_; }

 private:
  static Status not_done() { return Status(Code::kUnavailable, "it was only asked"); }
  bool was_asked_ = false;
};

class ClockCase {
 public:
  ClockCase(const CasePlan& plan, CaseLog& log) : plan_(plan), log_(log), dice_(plan.seed) {}

  void play();

 private:
  // A process that writes the journal, or believes that it does.
  struct Life {
    int machine = 0;
    std::shared_ptr<ShareProcess> process;
    storage::Location run{""};
    std::unique_ptr<JournalWriter> writer;
    std::int64_t last_beat_ns = 0;  // by true time
    std::int64_t awake_ns = 0;      // since then it was never stopped
  };
  struct Follower {
    int machine = 0;
    storage::Location run{""};
    std::unique_ptr<Watcher> watcher;
  };

  void act();
  void write();
  void start_writer();
  void begin_life();
  void append_step();
  void append_event();
  void jump();
  void kill();
  void end_writer();
  void stop_for_a_while();
  void resume(Life stopped);
  void try_rival();
  void let_one_of_two_give_way(Life rival);
  void collect_garbage();
  void watch();
  void look_back(std::string_view when);
  void finish();
  void check_that_it_is_seen_to_be_over();
  void check_losses(const Watcher& watcher, std::string_view reader);
  void pass(std::int64_t ns);  // time, with the beats of who is not stopped
  void drop_writer() {
    life_.writer.reset();  // before what it writes to
    life_ = Life();
  }
  int any_machine() { return static_cast<int>(dice_.roll(2)); }
  std::shared_ptr<ShareProcess> process(std::string name, int machine, bool reads) {
    return std::make_shared<ShareProcess>(std::move(name), machines_[static_cast<std::size_t>(machine)], reads);
  }
  static storage::Location runs_of(const std::shared_ptr<ShareProcess>& process) {
    return storage::Location(std::static_pointer_cast<storage::Storage>(process), "share");
  }
  const SimClock& clock_of(int machine) const { return clocks_[static_cast<std::size_t>(machine)]; }
  Result<Life> open(std::string name, int machine);
  bool is_alive(const Life& life) const { return life.writer && now_ns() - life.last_beat_ns < kAliveNs; }
  std::int64_t now_ns() const { return true_time_.steady_ns(); }

  const CasePlan& plan_;
  CaseLog& log_;
  Dice dice_;
  SimClock true_time_;  // of the server
  std::array<SimClock, 2> clocks_;
  ShareServer server_;
  std::array<ShareMachine, 2> machines_{ShareMachine(0, server_, clocks_[0], plan_, dice_, log_),
                                        ShareMachine(1, server_, clocks_[1], plan_, dice_, log_)};
  Oracle steps_{"step"}, events_{"event"};
  journal::JournalOptions options_ = journal::sample_journal_options();
  int lives_ = 0;
  bool named_ = false;
  Life life_;  // its writer is null while nobody writes
  std::vector<Follower> followers_;
};

void ClockCase::play() {
  options_.segment_bytes = static_cast<std::uint64_t>(dice_.between(2'000, 12'000));
  server_.clock = &true_time_;
  server_.locks = static_cast<LockMode>(dice_.roll(3));
  server_.lag_ns = dice_.between(1, 20) * kSecondNs;
  log_.note("what a machine has seen it believes for {} s; {}", server_.lag_ns / kSecondNs,
            server_.locks == LockMode::kWork      ? "locks work"
            : server_.locks == LockMode::kMissing ? "there are no locks"
                                                  : "locks are of one machine");
  const int actions = std::min(static_cast<int>(dice_.between(15, 60)), plan_.most_actions);
  for (int i = 0; i < actions && log_.violations().empty(); ++i) {
    act();
    pass(dice_.one_in(6) ? dice_.between(1, 90) * kSecondNs : dice_.between(0, 2'000) * 1'000'000);
  }
  if (log_.violations().empty()) finish();
}

void ClockCase::act() {
  const std::uint64_t dice = dice_.roll(100);
  if (dice < 35) return write();
  if (dice < 50) return jump();
  if (dice < 65) return try_rival();
  if (dice < 75) return collect_garbage();
  if (dice < 88) return watch();
  if (dice < 93) return stop_for_a_while();
  if (dice < 97) return kill();
  end_writer();
}

void ClockCase::pass(std::int64_t ns) {
  while (ns > 0) {
    const std::int64_t slice = std::min(ns, kBeatNs);
    true_time_.advance(slice);
    for (SimClock& clock : clocks_) clock.advance(slice);
    ns -= slice;
    if (!life_.writer) continue;
    life_.writer->beat();
    life_.last_beat_ns = now_ns();
  }
}

// By what people, batteries and servers of time do to a clock.
void ClockCase::jump() {
  if (plan_.leaves_out(FaultSort::kClockJump)) return;
  const int machine = any_machine();
  constexpr std::int64_t kUnits[] = {kSecondNs, 60 * kSecondNs, 3'600 * kSecondNs, 86'400 * kSecondNs, kYearNs};
  const std::int64_t unit = kUnits[dice_.roll(5)];
  std::int64_t by = dice_.between(1, unit == kYearNs ? 10 : 90) * unit;
  SimClock& clock = clocks_[static_cast<std::size_t>(machine)];
  const bool goes_back = clock.unix_ns() > by + kYearNs && (dice_.one_in(2) || clock.unix_ns() > 200 * kYearNs);
  if (goes_back) by = -by;
  log_.fault(FaultSort::kClockJump, "of machine {} by {} s", machine, by / kSecondNs);
  clock.jump(by);
}

Result<ClockCase::Life> ClockCase::open(std::string name, int machine) {
  Life life;
  life.machine = machine;
  life.process = process(std::move(name), machine, false);
  life.run = runs_of(life.process).beneath(kRun);
  TRAINWARDEN_RETURN_IF_ERROR(life.process->create_folder(kRun));
  TRAINWARDEN_ASSIGN_OR_RETURN(const journal::RunInfo info,
                               journal::create_or_join_run(life.run.storage(), journal::sample_run_info()));
  TRAINWARDEN_ASSIGN_OR_RETURN(life.writer, JournalWriter::open(life.run.storage(), clock_of(machine), info, options_));
  life.awake_ns = life.last_beat_ns = now_ns();
  return life;
}

void ClockCase::start_writer() {
  const int machine = any_machine();
  auto opened = open(fmt::format("writer {}", ++lives_), machine);
  log_.note("writer {} starts on machine {}: {}", lives_, machine, opened.status().to_string());
  if (!opened.ok()) return;
  life_ = *std::move(opened);
  begin_life();
}

void ClockCase::begin_life() {
  named_ = false;
  steps_.begin_life();
  events_.begin_life();
}

void ClockCase::write() {
  if (!life_.writer) return start_writer();
  if (dice_.roll(4) > 0) return append_step();
  append_event();
}

void ClockCase::append_step() {
  const std::int64_t number = steps_.attempt();
  const auto step = journal::small_step(number, !std::exchange(named_, true));
  const Status status = life_.writer->append_step(step->batch());
  log_.note("append step {}: {}", number, status.to_string());
  if (status.ok()) steps_.acknowledge(number, life_.process->last_file());
  if (status.code() == Code::kAlreadyExists) log_.violate("who writes alone is refused: " + status.to_string());
}

void ClockCase::append_event() {
  const std::int64_t number = events_.attempt();
  const Status status = life_.writer->append_event(format::FrameKind::kEvent, -1, event_text(number));
  log_.note("append event {}: {}", number, status.to_string());
  if (status.ok()) events_.acknowledge(number, life_.process->last_file());
}

void ClockCase::kill() {
  if (!life_.writer || plan_.leaves_out(FaultSort::kKill)) return;
  log_.fault(FaultSort::kKill, "the writer");
  life_.process->fate().die();
  drop_writer();
  pass(server_.lag_ns);
  look_back("after a death");
}

void ClockCase::end_writer() {
  if (!life_.writer) return;
  log_.note("the writer ends: {}", life_.writer->seal().to_string());
  drop_writer();
}

// Of another process, while one writes. Locks of one machine alone let another machine's in, and nothing says that they
// would not (docs/guide/shared-file-systems.md).
void ClockCase::try_rival() {
  if (!life_.writer) return start_writer();
  const int machine = server_.locks == LockMode::kOfOneMachine ? life_.machine : any_machine();
  const bool was_alive = is_alive(life_);
  auto opened = open("a rival", machine);
  log_.note("a rival on machine {}: {}", machine, opened.status().to_string());
  if (!opened.ok() || !was_alive) return;
  // Without locks, the other machine does not see at once who has just begun, or woken up.
  const bool may_be_unseen = server_.locks == LockMode::kMissing && now_ns() - life_.awake_ns < server_.lag_ns;
  if (may_be_unseen) return let_one_of_two_give_way(*std::move(opened));
  log_.violate("a writer that lives is taken for dead, and two write one journal");
}

void ClockCase::let_one_of_two_give_way(Life rival) {
  for (int i = 0; i < 10; ++i) {
    rival.writer->beat();
    pass(kBeatNs);
  }
  const auto goes_on = [&] {
    const std::uint64_t before = events_.acknowledged();
    append_event();
    return events_.acknowledged() > before;
  };
  if (goes_on()) {
    const Status status = rival.writer->append_event(format::FrameKind::kEvent, -1, R"({"type":"intruder"})");
    if (status.ok()) log_.violate("two began at once, and both go on");
    return;
  }
  log_.note("the rival is the one that stays");
  drop_writer();
  life_ = std::move(rival);
  begin_life();
  if (!goes_on()) log_.violate("two began at once, and none of them goes on");
}

// As by SIGSTOP, or a machine that sleeps: the writer gives no sign of life for minutes, and then goes on.
void ClockCase::stop_for_a_while() {
  if (!life_.writer || plan_.leaves_out(FaultSort::kStopped)) return;
  static_cast<void>(life_.writer->sync());
  const std::int64_t seconds = dice_.between(20, 400);
  log_.fault(FaultSort::kStopped, "the writer, for {} s", seconds);
  Life stopped = std::exchange(life_, Life());
  pass(seconds * kSecondNs);
  const bool another_comes = server_.locks != LockMode::kOfOneMachine && dice_.one_in(2);
  if (another_comes) start_writer();
  if (life_.writer && server_.locks == LockMode::kWork) return log_.violate("a lock that is held was given away");
  if (!life_.writer) {
    log_.note("it goes on");
    life_ = std::move(stopped);
    life_.awake_ns = now_ns();
    return pass(kBeatNs);
  }
  resume(std::move(stopped));
}

// Another writes by now. A few beats later this one knows.
void ClockCase::resume(Life stopped) {
  for (int i = 0; i < 8; ++i) {
    stopped.writer->beat();
    pass(kBeatNs);
  }
  const Status status = stopped.writer->append_event(format::FrameKind::kEvent, -1, R"({"type":"intruder"})");
  log_.note("who was stopped writes: {}", status.to_string());
  if (status.ok()) log_.violate("who was stopped goes on with a journal that another writes by now");
}

void ClockCase::collect_garbage() {
  const int machine = any_machine();
  const auto gc = process("gc", machine, false);
  const storage::Location runs = runs_of(gc);
  const storage::Location run = runs.beneath(kRun);
  const auto info = journal::read_run(run.storage());
  if (!info.ok()) return;
  retention::KeepRules rules;
  rules.older_than_ns = 86'400 * kSecondNs;
  const auto planned = retention::plan_gc(runs, rules, {}, clock_of(machine));
  ToldEdits edits;
  const bool was_alive = is_alive(life_);
  const Status status = retention::remove_run(runs, edits, kRun, *info, clock_of(machine));
  log_.note("gc on machine {}: planned {}; {}", machine,
            planned.ok() && !planned->runs.empty() ? retention::name(planned->runs[0].change) : "nothing",
            status.to_string());
  if (edits.was_asked() && was_alive) log_.violate("gc removes a run that is being written");
}

void ClockCase::watch() {
  if (followers_.size() < 3 || dice_.one_in(8)) {
    if (followers_.size() == 3) followers_.erase(followers_.begin());
    Follower added;
    added.machine = any_machine();
    const std::string reader = fmt::format("reader {} on machine {}", dice_.roll(1'000), added.machine);
    added.run = runs_of(process(reader, added.machine, true)).beneath(kRun);
    added.watcher = std::make_unique<Watcher>(reader, added.run.storage(), true, log_);
    followers_.push_back(std::move(added));
  }
  const Follower& one = followers_[dice_.roll(followers_.size())];
  const Status status = one.watcher->look();
  log_.note("a reader looks: {}, {} steps", status.to_string(), one.watcher->steps().size());
  one.watcher->check(steps_, events_, false);
  check_losses(*one.watcher, "a reader");
}

void ClockCase::look_back(std::string_view when) {
  for (int machine = 0; machine < 2; ++machine) {
    const std::string reader = fmt::format("who reads {} on machine {}", when, machine);
    const storage::Location run = runs_of(process(reader, machine, true)).beneath(kRun);
    const bool was_calm = std::exchange(server_.is_calm, true);
    Watcher watcher(reader, run.storage(), false, log_);
    const Status status = watcher.look();
    server_.is_calm = was_calm;
    if (!status.ok()) return log_.violate(fmt::format("the journal cannot be read {}: {}", when, status.to_string()));
    log_.note("{}: {} steps, {} events", reader, watcher.steps().size(), watcher.events().size());
    watcher.check(steps_, events_, true);
    check_losses(watcher, reader);
    steps_.settle(watcher.steps());
    events_.settle(watcher.events());
  }
}

// A promise may begin to count late, where the dead writer's clock was ahead. It never does for longer than its time.
void ClockCase::check_that_it_is_seen_to_be_over() {
  for (int machine = 0; machine < 2; ++machine) {
    const auto observer = process("an observer", machine, false);
    const storage::Location run = runs_of(observer).beneath(kRun);
    const auto is_over = [&] {
      return !storage::is_leased(run.storage(), journal::writer_lease(kWriterName), clock_of(machine));
    };
    if (is_over()) continue;
    pass(200 * kSecondNs);
    if (!is_over()) log_.violate(fmt::format("machine {} never sees that the writer is dead", machine));
  }
}

void ClockCase::finish() {
  log_.note("no more faults");
  if (dice_.one_in(2)) kill();
  end_writer();
  server_.is_calm = true;
  pass(200 * kSecondNs);
  check_that_it_is_seen_to_be_over();
  start_writer();
  if (!life_.writer) pass(300 * kSecondNs);
  if (!life_.writer) start_writer();
  if (!life_.writer) return log_.violate("no writer can go on with the journal");
  const std::uint64_t before = steps_.acknowledged();
  append_step();
  if (steps_.acknowledged() == before) log_.violate("nothing can be written any more");
  end_writer();
  for (const Follower& one : followers_) {
    const Status status = one.watcher->look();
    if (!status.ok()) log_.violate("a reader cannot read: " + status.to_string());
    one.watcher->check(steps_, events_, true);
  }
  look_back("at the end");
  if (server_.locks == LockMode::kMissing) return;  // nothing is removed where nothing can be locked
  const auto gc = process("gc", 0, false);
  const storage::Location run = runs_of(gc).beneath(kRun);
  const auto info = journal::read_run(run.storage());
  ToldEdits edits;
  if (info.ok()) static_cast<void>(retention::remove_run(runs_of(gc), edits, kRun, *info, clock_of(0)));
  if (!edits.was_asked()) log_.violate("a run that nobody writes cannot be removed");
}

void ClockCase::check_losses(const Watcher& watcher, std::string_view reader) {
  const std::vector<RunLoss> losses = watcher.losses();
  log_.count_losses(losses.size());
  for (const RunLoss& loss : losses) {
    const bool is_end = loss.cause == "torn tail" || loss.cause == "data of a step without its end";
    // By a clock that has jumped a reader takes a writer for gone (docs/guide/shared-file-systems.md).
    if (is_end && (log_.count(FaultSort::kClockJump) > 0 || server_.had_old_promise)) continue;
    log_.violate(fmt::format("{} tells a loss that never was: {} in {}", reader, loss.cause, loss.where));
  }
}

}  // namespace

void play_clock(const CasePlan& plan, CaseLog& log) {
  ClockCase(plan, log).play();
}

}  // namespace trainwarden::torture
