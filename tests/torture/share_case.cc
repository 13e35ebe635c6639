#include "share_case.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "hook/capture/requests/control_folder.h"
#include "oracle.h"
#include "share.h"
#include "store/journal/journal_writer.h"
#include "store/journal/sample_run.h"
#include "watcher.h"

namespace trainwarden::torture {
namespace {

using journal::JournalWriter;
constexpr std::string_view kRequestHead = "torture-";

bool is_request_of_ours(std::string_view name) {
  return name.starts_with(kRequestHead) && name.ends_with(".json");
}

class ShareCase {
 public:
  ShareCase(const CasePlan& plan, CaseLog& log) : plan_(plan), log_(log), dice_(plan.seed) {}

  void play();

 private:
  struct Follower {
    int machine = 0;
    std::unique_ptr<ShareProcess> process;
    std::unique_ptr<Watcher> watcher;
  };

  void act();
  void write();
  void start_writer();
  void append_step();
  void append_event();
  void sync();
  void end_writer();
  void stop_machine();
  void watch();
  void ask();
  void look_for_requests();
  void bury();
  void look_back(std::string_view when);
  void finish();
  void check_losses(const Watcher& watcher, std::string_view reader);

  const CasePlan& plan_;
  CaseLog& log_;
  Dice dice_;
  SimClock clock_;
  ShareServer server_;
  std::array<ShareMachine, 2> machines_{ShareMachine(0, server_, clock_, plan_, dice_, log_),
                                        ShareMachine(1, server_, clock_, plan_, dice_, log_)};
  Oracle steps_{"step"}, events_{"event"};
  journal::JournalOptions options_ = journal::sample_journal_options();
  int lives_ = 0;
  bool named_ = false;
  int machine_ = 0;                        // of the writer
  std::shared_ptr<ShareProcess> process_;  // of the writer
  std::unique_ptr<JournalWriter> writer_;
  std::unique_ptr<capture::ControlFolder> control_;
  std::set<std::int64_t> taken_;  // requests, in this life
  std::int64_t asked_ = 0;
  std::vector<Follower> followers_;
};

void ShareCase::play() {
  options_.segment_bytes = static_cast<std::uint64_t>(dice_.between(2'000, 12'000));
  options_.sync_each_segment = dice_.one_in(2);
  server_.locks = static_cast<LockMode>(dice_.roll(3));
  server_.lag_ns = dice_.between(1, 30) * kSecondNs;
  server_.puts_whole = !dice_.one_in(3);
  log_.note("what a machine has seen it believes for {} s; {}; {}", server_.lag_ns / kSecondNs,
            server_.locks == LockMode::kWork      ? "locks work"
            : server_.locks == LockMode::kMissing ? "there are no locks"
                                                  : "locks are of one machine",
            server_.puts_whole ? "files are put whole" : "files are put in parts");
  const int actions = std::min(static_cast<int>(dice_.between(15, 70)), plan_.most_actions);
  for (int i = 0; i < actions && log_.violations().empty(); ++i) {
    act();
    if (writer_) writer_->beat();
    if (process_ && process_->fate().is_dead()) bury();
    clock_.advance(dice_.one_in(8) ? dice_.between(1, 30) * kSecondNs : dice_.between(0, 2'000) * 1'000'000);
  }
  if (log_.violations().empty()) finish();
}

void ShareCase::act() {
  const std::uint64_t dice = dice_.roll(100);
  if (dice < 45) return write();
  if (dice < 58) {
    if (process_) process_->send_some();
  } else if (dice < 80) {
    watch();
  } else if (dice < 85) {
    ask();
  } else if (dice < 90) {
    look_for_requests();
  } else if (dice < 95) {
    const auto calls = static_cast<std::int64_t>(dice_.roll(6));
    if (process_) process_->fate().kill_at(calls);
  } else if (dice < 97) {
    stop_machine();
  } else {
    end_writer();
  }
}

void ShareCase::write() {
  if (!writer_) return start_writer();
  const std::uint64_t dice = dice_.roll(10);
  if (dice < 6) {
    append_step();
  } else if (dice < 8) {
    append_event();
  } else if (dice < 9) {
    sync();
  } else {
    log_.note("seal: {}", writer_->seal().to_string());
  }
}

void ShareCase::start_writer() {
  machine_ = static_cast<int>(dice_.roll(2));
  process_ = std::make_shared<ShareProcess>(fmt::format("writer {}", ++lives_),
                                            machines_[static_cast<std::size_t>(machine_)], false);
  named_ = false;
  steps_.begin_life();
  events_.begin_life();
  taken_.clear();
  control_.reset();
  const auto run = journal::create_or_join_run(*process_, journal::sample_run_info());
  auto writer = run.ok() ? JournalWriter::open(*process_, clock_, *run, options_)
                         : Result<std::unique_ptr<JournalWriter>>(run.status());
  log_.note("{} starts on machine {}: {}", process_->fate().name(), machine_, writer.status().to_string());
  if (!run.ok() && !process_->fate().is_dead()) log_.violate("the run cannot be joined: " + run.status().to_string());
  if (writer.ok()) {
    writer_ = *std::move(writer);
    static_cast<void>(process_->create_folder("control"));
    control_ = std::make_unique<capture::ControlFolder>(process_, "", is_request_of_ours);
  } else if (!process_->fate().is_dead()) {
    process_.reset();
  }
}

void ShareCase::append_step() {
  const std::int64_t number = steps_.attempt();
  const auto step = journal::small_step(number, !std::exchange(named_, true));
  const Status status = writer_->append_step(step->batch());
  log_.note("append step {}: {}", number, status.to_string());
  if (status.ok()) steps_.acknowledge(number, process_->last_file());
}

void ShareCase::append_event() {
  const std::int64_t number = events_.attempt();
  const Status status = writer_->append_event(format::FrameKind::kEvent, -1, event_text(number));
  log_.note("append event {}: {}", number, status.to_string());
  if (status.ok()) events_.acknowledge(number, process_->last_file());
}

void ShareCase::sync() {
  process_->fate().take_synced_file();
  const Status status = writer_->sync();
  log_.note("sync: {}", status.to_string());
  const std::string file = options_.sync_each_segment ? "" : process_->fate().take_synced_file();
  if (!status.ok() || (!options_.sync_each_segment && file.empty())) return;
  steps_.synced(file);
  events_.synced(file);
}

void ShareCase::end_writer() {
  if (!writer_) return;
  log_.note("the writer ends: {}", writer_->seal().to_string());
  writer_.reset();
  if (!process_->fate().is_dead()) process_.reset();
}

// With all that it had not sent yet.
void ShareCase::stop_machine() {
  if (!process_ || plan_.leaves_out(FaultSort::kPowerLoss)) return;
  log_.fault(FaultSort::kPowerLoss, "machine {} stops", machine_);
  process_->fate().die();
  process_->lose_with_machine();
  std::erase_if(followers_, [&](const Follower& follower) { return follower.machine == machine_; });
  steps_.lose_power();
  events_.lose_power();
}

void ShareCase::watch() {
  if (followers_.size() < 3 || dice_.one_in(8)) {
    if (followers_.size() == 3) followers_.erase(followers_.begin());
    Follower added;
    added.machine = static_cast<int>(dice_.roll(2));
    added.process =
        std::make_unique<ShareProcess>(fmt::format("reader {} on machine {}", dice_.roll(1'000), added.machine),
                                       machines_[static_cast<std::size_t>(added.machine)], true);
    added.watcher = std::make_unique<Watcher>(added.process->fate().name(), *added.process, true, log_);
    followers_.push_back(std::move(added));
  }
  Follower& one = followers_[dice_.roll(followers_.size())];
  const Status status = one.watcher->look();
  log_.note("{} looks: {}, {} steps", one.process->fate().name(), status.to_string(), one.watcher->steps().size());
  one.watcher->check(steps_, events_, false);
  check_losses(*one.watcher, one.process->fate().name());
}

void ShareCase::ask() {
  const auto other = static_cast<std::size_t>(1 - machine_);
  ShareProcess asker("who asks", machines_[other], false);
  if (!asker.create_folder("control").ok()) return;
  const std::string text = fmt::format("{{\"number\":{}}}", asked_);
  const Status put = asker.put_if_absent(fmt::format("control/{}{:04}.json", kRequestHead, asked_), as_bytes(text));
  log_.note("machine {} asks for {}: {}", other, asked_, put.to_string());
  if (put.ok()) ++asked_;
}

void ShareCase::look_for_requests() {
  if (!control_) return;
  const auto found = control_->read_new<std::int64_t>([](std::string_view text, std::string_view) {
    const std::size_t colon = text.find(':');
    const std::string_view digits = text.substr(colon + 1, text.size() - colon - 2);
    return Result<std::int64_t>(parse_int(digits).value_or(-1));
  });
  for (const std::int64_t number : found) {
    log_.note("request {} is taken", number);
    if (number < 0 || number >= asked_) log_.violate(fmt::format("request {} was taken, which nobody made", number));
    if (!taken_.insert(number).second) log_.violate(fmt::format("request {} was taken twice", number));
  }
}

void ShareCase::bury() {
  control_.reset();
  writer_.reset();
  process_.reset();
  clock_.advance(server_.lag_ns);
  look_back("after a death");
}

void ShareCase::look_back(std::string_view when) {
  for (ShareMachine& machine : machines_) {
    ShareProcess fresh(fmt::format("who reads {} on machine {}", when, machine.number()), machine, true);
    const bool was_calm = std::exchange(server_.is_calm, true);  // it waits until nothing is late
    Watcher watcher(fresh.fate().name(), fresh, false, log_);
    const Status status = watcher.look();
    server_.is_calm = was_calm;
    if (!status.ok()) return log_.violate(fmt::format("the journal cannot be read {}: {}", when, status.to_string()));
    log_.note("{}: {} steps, {} events, {} losses", fresh.fate().name(), watcher.steps().size(),
              watcher.events().size(), watcher.losses().size());
    watcher.check(steps_, events_, true);
    check_losses(watcher, fresh.fate().name());
    steps_.settle(watcher.steps());
    events_.settle(watcher.events());
  }
}

void ShareCase::finish() {
  log_.note("no more faults");
  if (process_) process_->fate().spare();
  clock_.advance(200 * kSecondNs);  // promises of who is gone have run out
  server_.is_calm = true;
  if (!writer_) start_writer();
  if (!writer_) return log_.violate("no writer can go on with the journal");
  const std::uint64_t before = steps_.acknowledged();
  append_step();
  if (steps_.acknowledged() == before) log_.violate("nothing can be written any more");
  for (int i = 0; i < 4; ++i) look_for_requests();
  if (static_cast<std::int64_t>(taken_.size()) != asked_) {
    log_.violate(fmt::format("{} of {} requests were taken", taken_.size(), asked_));
  }
  end_writer();
  for (const Follower& one : followers_) {
    const Status status = one.watcher->look();
    if (!status.ok()) log_.violate(one.process->fate().name() + " cannot read: " + status.to_string());
    one.watcher->check(steps_, events_, true);
    check_losses(*one.watcher, one.process->fate().name());
  }
  look_back("at the end");
}

void ShareCase::check_losses(const Watcher& watcher, std::string_view reader) {
  const std::vector<RunLoss> losses = watcher.losses();
  log_.count_losses(losses.size());
  if (log_.count(FaultSort::kLostBytes) > 0) return;
  const std::uint64_t torn = log_.count(FaultSort::kTornWrite);
  for (const RunLoss& loss : losses) {
    const bool is_end = loss.cause == "torn tail" || loss.cause == "data of a step without its end";
    // By an old promise a writer that has come since is taken for gone (docs/guide/shared-file-systems.md).
    if (is_end && (torn > 0 || server_.had_old_promise)) continue;
    log_.violate(fmt::format("{} tells a loss that never was: {} in {}", reader, loss.cause, loss.where));
  }
}

}  // namespace

void play_shared(const CasePlan& plan, CaseLog& log) {
  ShareCase(plan, log).play();
}

}  // namespace trainwarden::torture
