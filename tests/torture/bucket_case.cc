#include "bucket_case.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "dice.h"
#include "fake_bucket.h"
#include "oracle.h"
#include "sim_process.h"
#include "store/journal/journal_writer.h"
#include "store/journal/sample_run.h"
#include "store/s3/appended_file.h"
#include "store/s3/bucket_mirror.h"
#include "store/s3/s3_storage.h"
#include "store/storage/forwarding_storage.h"
#include "store/storage/memory_storage.h"
#include "watcher.h"

namespace trainwarden::torture {
namespace {

using journal::JournalWriter;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr const char* kPrefix = "runs/first";

// Who reads judges promises by the system's clock (SimProcess::use_system_time).
class OtherTimes final : public storage::ForwardingStorage {
 public:
  OtherTimes(std::shared_ptr<storage::Storage> base, const SimClock& clock)
      : ForwardingStorage(*base), owned_(std::move(base)), clock_(clock) {}
  Result<std::string> read(const std::string& path, std::uint64_t limit_bytes) const override {
    TRAINWARDEN_ASSIGN_OR_RETURN(std::string text, base().read(path, limit_bytes));
    return path.ends_with(".lease") ? in_system_time(std::move(text), clock_) : text;
  }

 private:
  const std::shared_ptr<storage::Storage> owned_;
  const SimClock& clock_;
};

class BucketCase {
 public:
  BucketCase(const CasePlan& plan, CaseLog& log) : plan_(plan), log_(log), dice_(plan.seed) {}

  void play();

 private:
  struct Reading {
    std::unique_ptr<OtherTimes> storage;
    std::unique_ptr<Watcher> watcher;
  };
  bool mirrors() const { return plan_.kind == Kind::kMirror || plan_.kind == Kind::kListing; }
  bool begins_often() const { return plan_.kind == Kind::kListing; }  // lists are asked for when a mirror begins
  void act();
  void write();
  void start_writer();
  void end_writer(bool is_killed);
  void watch();
  void mirror(bool is_last);
  Reading reader(std::string name, bool live);
  void check(const Reading& reading, bool whole);
  void finish();
  void compare_files();
  std::string copy_of(const std::string& path) const;
  void check_copy(std::string_view when);
  std::vector<std::string> files_in(const std::string& folder) const;

  const CasePlan& plan_;
  CaseLog& log_;
  Dice dice_;
  SimClock clock_;
  FakeBucket bucket_{plan_, clock_, log_};
  Oracle steps_{"step"}, events_{"event"};
  journal::JournalOptions options_ = journal::sample_journal_options();
  std::shared_ptr<storage::MemoryStorage> disk_ = storage::create_memory_storage();
  std::shared_ptr<storage::Storage> storage_;  // that the writer writes to
  std::unique_ptr<JournalWriter> writer_;
  bool named_ = false;
  std::unique_ptr<storage::BucketMirror> mirror_;
  std::vector<Reading> readings_;
};

void BucketCase::play() {
  options_.segment_bytes = static_cast<std::uint64_t>(dice_.between(2'000, 12'000));
  bucket_.set_trouble(dice_.roll(40));
  const int actions = std::min(static_cast<int>(dice_.between(10, 45)), plan_.most_actions);
  for (int i = 0; i < actions && log_.violations().empty(); ++i) {
    act();
    clock_.advance(dice_.one_in(10) ? dice_.between(1, 70) * kSecond : dice_.between(0, 2'000) * 1'000'000);
  }
  if (log_.violations().empty()) finish();
}

void BucketCase::act() {
  const std::uint64_t dice = dice_.roll(100);
  if (dice < 50) return write();
  if (dice < (begins_often() ? 58 : 70)) return watch();
  if (dice < 85) {
    if (mirrors()) return mirror(false);
    return write();
  }
  if (dice < 88) {
    log_.note("the bucket is away");
    bucket_.set_down(true);
  } else if (dice < 92) {
    log_.note("the bucket is there");
    bucket_.set_down(false);
  } else if (dice < 94) {
    bucket_.let_late_requests_come();
  } else if (dice < 97) {
    end_writer(true);
  } else {
    end_writer(false);
    if (mirrors()) mirror_.reset();  // its process ends as well
  }
}

void BucketCase::start_writer() {
  named_ = false;
  steps_.begin_life();
  events_.begin_life();
  storage_ = mirrors() ? std::static_pointer_cast<storage::Storage>(disk_)
                       : storage::create_s3_storage(bucket_.client(), kPrefix, clock_);
  const auto run = journal::create_or_join_run(*storage_, journal::sample_run_info());
  auto writer = run.ok() ? JournalWriter::open(*storage_, clock_, *run, options_)
                         : Result<std::unique_ptr<JournalWriter>>(run.status());
  log_.note("a writer starts: {}", writer.status().to_string());
  if (writer.ok()) writer_ = *std::move(writer);
}

void BucketCase::write() {
  if (!writer_) return start_writer();
  const bool is_step = dice_.roll(4) > 0;
  Oracle& oracle = is_step ? steps_ : events_;
  const std::int64_t number = oracle.attempt();
  const Status status = is_step
                            ? writer_->append_step(journal::small_step(number, !std::exchange(named_, true))->batch())
                            : writer_->append_event(format::FrameKind::kEvent, -1, event_text(number));
  log_.note("append {} {}: {}", is_step ? "step" : "event", number, status.to_string());
  if (status.ok()) oracle.acknowledge(number, "");
}

// Requests of a process that was killed may still arrive.
void BucketCase::end_writer(bool is_killed) {
  if (!writer_) return;
  if (is_killed) {
    log_.fault(FaultSort::kKill, "the writer");
  } else {
    log_.note("the writer ends: {}", writer_->seal().to_string());
  }
  writer_.reset();
}

BucketCase::Reading BucketCase::reader(std::string name, bool live) {
  Reading reading;
  reading.storage = std::make_unique<OtherTimes>(storage::create_s3_storage(bucket_.client(), kPrefix, clock_), clock_);
  reading.watcher = std::make_unique<Watcher>(std::move(name), *reading.storage, live, log_);
  return reading;
}

void BucketCase::watch() {
  if (readings_.size() < 2) readings_.push_back(reader(fmt::format("reader {}", dice_.roll(1'000)), true));
  const Reading& one = readings_[dice_.roll(readings_.size())];
  const Status status = one.watcher->look();
  log_.note("a reader looks: {}, {} steps", status.to_string(), one.watcher->steps().size());
  check(one, false);
}

// Each piece comes whole: nothing is ever torn.
void BucketCase::check(const Reading& reading, bool whole) {
  reading.watcher->check(steps_, events_, whole);
  for (const RunLoss& loss : reading.watcher->losses()) {
    log_.violate(fmt::format("a loss is told that never was: {} in {}", loss.cause, loss.where));
  }
}

void BucketCase::mirror(bool is_last) {
  if (!mirror_ || dice_.one_in(begins_often() ? 3 : 10)) {
    const bool dies = !is_last && dice_.one_in(3);
    mirror_ = std::make_unique<storage::BucketMirror>(
        disk_, bucket_.mirror_client(dies ? static_cast<std::int64_t>(dice_.roll(12)) : -1), kPrefix);
    const Status begun = mirror_->begin();
    log_.note("a mirror begins: {}", begun.to_string());
    if (!begun.ok()) return mirror_.reset();
  }
  const storage::MirrorRound round = mirror_->look(is_last);
  log_.note("the mirror has sent {} bytes, {} are behind: {}", round.bytes, round.bytes_behind,
            round.problem.to_string());
  if (round.problem.code() == Code::kCancelled) return mirror_.reset();
  if (round.problem.ok() && round.bytes_behind == 0) check_copy("while it says that all is there");
}

// What a reader would put together: the whole object, or the pieces as far as they follow one another.
std::string BucketCase::copy_of(const std::string& path) const {
  const std::string key = fmt::format("{}/{}", kPrefix, path);
  const FakeBucket::Objects& objects = bucket_.objects();
  if (const auto whole = objects.find(key); whole != objects.end()) return whole->second.bytes;
  std::string bytes;
  for (std::uint64_t number = 0;; ++number) {
    const auto piece = objects.find(storage::piece_name(key, number));
    if (piece == objects.end()) return bytes;
    bytes += piece->second.bytes;
  }
}

void BucketCase::check_copy(std::string_view when) {
  if (bucket_.had_late_requests())
    return;  // an older piece may have taken the place of a newer one, until its segment is whole
  for (const std::uint64_t number : journal::list_segments(*disk_, kWriterName).value_or({})) {
    const std::string path = journal::journal_folder(kWriterName) + "/" + journal::segment_file(number);
    if (copy_of(path) == disk_->content(path)) continue;
    log_.violate(fmt::format("{} is not in the bucket as it is on the disk, {}", path, when));
  }
}

void BucketCase::finish() {
  log_.note("no more faults");
  bucket_.calm();
  clock_.advance(200 * kSecond);
  if (!writer_) start_writer();
  if (!writer_) return log_.violate("no writer can go on with the journal");
  const std::uint64_t before = steps_.acknowledged() + events_.acknowledged();
  write();
  if (steps_.acknowledged() + events_.acknowledged() == before) log_.violate("nothing can be written any more");
  end_writer(false);
  clock_.advance(2 * kSecond);
  if (mirrors()) {
    mirror(true);
    mirror(true);
    compare_files();
  }
  for (const Reading& one : readings_) {
    const Status status = one.watcher->look();
    if (!status.ok()) log_.violate("a reader cannot read: " + status.to_string());
    check(one, true);
  }
  const Reading last = reader("who reads at the end", false);
  const Status status = last.watcher->look();
  if (!status.ok()) return log_.violate("the journal cannot be read at the end: " + status.to_string());
  check(last, true);
}

std::vector<std::string> BucketCase::files_in(const std::string& folder) const {
  std::vector<std::string> files;
  for (const storage::Entry& entry : disk_->entries(folder).value_or({})) {
    const std::string path = folder.empty() ? entry.name : folder + "/" + entry.name;
    if (entry.info.kind == storage::FileInfo::Kind::kFolder) {
      for (std::string& file : files_in(path)) files.push_back(std::move(file));
    } else if (!path.ends_with(".lock") && !path.ends_with(".tmp")) {
      files.push_back(path);
    }
  }
  return files;
}

// The bucket holds what the disk does, byte for byte, in whole objects.
void BucketCase::compare_files() {
  for (const std::string& path : files_in("")) {
    const auto found = bucket_.objects().find(fmt::format("{}/{}", kPrefix, path));
    if (found == bucket_.objects().end() || found->second.bytes != disk_->content(path)) {
      log_.violate(fmt::format("{} is not in the bucket as it is on the disk", path));
    }
  }
  // What a list that lags does not show when the whole is there is not looked for: it stands for itself.
  if (bucket_.had_late_requests() || plan_.kind == Kind::kListing) return;
  for (const auto& [key, object] : bucket_.objects()) {
    if (storage::parse_piece_name(key)) log_.violate(key + " was left in the bucket");
  }
}

}  // namespace

void play_bucket(const CasePlan& plan, CaseLog& log) {
  BucketCase(plan, log).play();
}

}  // namespace trainwarden::torture
