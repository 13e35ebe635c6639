#include "hook/capture/open_hook.h"
#include "hook/capture/budget/space_keeper.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/no_throw.h"
#include "data/format/control_record.h"
#include "data/format/run_event.h"
#include "hook/capture/capture_plan.h"
#include "hook/capture/config/hook_environment.h"
#include "hook/capture/fork_guard.h"
#include "hook/capture/hook_impl.h"
#include "hook/capture/idle_steps.h"
#include "hook/capture/requests/capture_changes.h"
#include "hook/capture/requests/checkpoint_requests.h"
#include "hook/capture/requests/examine_requests.h"
#include "hook/capture/requests/profile_requests.h"
#include "hook/capture/requests/stop_requests.h"
#include "hook/capture/run_identity.h"
#include "hook/capture/writing/dry_journal.h"
#include "store/journal/journal_reader.h"
#include "store/journal/journal_writer.h"
#include "store/journal/run_folder.h"
#include "store/storage/disk_space.h"

namespace trainwarden::capture {
namespace {

constexpr std::size_t kLeastStagingBytes = 4096;
constexpr std::size_t kLeastSegmentBytes = 4096;

Status check_options(const HookOptions& options) {
  if (options.world_size < 1) {
    return Status(Code::kInvalidArgument, fmt::format("world_size must be at least 1, not {}", options.world_size));
  }
  if (options.rank < 0 || options.rank >= options.world_size) {
    return Status(Code::kInvalidArgument, fmt::format("rank must be in [0, world_size = {}), not {}; set both",
                                                      options.world_size, options.rank));
  }
  const auto& mode_steps = options.first_mode_steps;
  if (options.first_global_step < 0 || *std::min_element(mode_steps.begin(), mode_steps.end()) < 0) {
    return Status(Code::kInvalidArgument, "first_global_step and first_mode_steps must be at least 0");
  }
  if (!(options.budget >= 0 && options.budget <= 1)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("budget must be a share from 0 (no limit) to 1, such as 0.01 for 1 %, not {}", options.budget));
  }
  if (options.staging_bytes < kLeastStagingBytes || options.segment_bytes < kLeastSegmentBytes) {
    return Status(Code::kInvalidArgument,
                  fmt::format("staging_bytes ({}) and segment_bytes ({}) must each be at least 4096",
                              options.staging_bytes, options.segment_bytes));
  }
  return Status();
}

// Why this worker writes nothing; none when it does.
std::optional<std::string> why_left_out(const HookOptions& options) {
  if (options.include_workers == IncludeWorkers::kAll || options.rank == 0) return std::nullopt;
  return fmt::format("include_workers is \"one\", and this is rank {}", options.rank);
}

// What earlier processes of this worker said in its journal.
struct EarlierWords {
  bool run_ended = false;
  std::set<std::string> stop_keys;
  std::set<std::string> capture_keys;
  EarlierCheckpoints checkpoints;
  std::set<std::string> profile_keys;

  void take(const journal::EventEntry& event) {
    if (event.kind != format::FrameKind::kEvent) return;
    const auto end = format::decode_run_end(event.json);
    if (end.ok() && *end) run_ended = true;
    if (run_ended && format::is_run_resume(event.json)) run_ended = false;
    const std::span<const journal::EventEntry> one(&event, 1);
    stop_keys.merge(accepted_stop_keys(one));
    capture_keys.merge(answered_capture_keys(one));
    profile_keys.merge(answered_profile_keys(one));
    EarlierCheckpoints more = earlier_checkpoints(one);
    for (const auto& [key, times] : more.begun) checkpoints.begun[key] += times;
    checkpoints.answered.merge(more.answered);
  }
};

// A journal that cannot be read does not stop the training.
EarlierWords earlier_words(const storage::Storage& storage, const journal::RunInfo& run, const std::string& writer) {
  EarlierWords words;
  auto reader = journal::JournalReader::open(storage, run, writer, journal::JournalReaderOptions());
  const Status status = reader.ok()
                            ? (*reader)->visit_events(0, [&](std::size_t, const auto& event) { words.take(event); })
                            : reader.status();
  if (status.ok()) return words;
  log(LogLevel::kWarning, "the journal of an earlier process cannot be read: {}", status.to_string());
  return {};
}

// A run that fewer workers go on with: those that are not started again have left it, so that nobody waits for them and
// it can be complete. One that lives is left alone, and so is one that has never come, as its journal says nothing.
void end_for_absent(storage::Storage& storage, const Clock& clock, const journal::RunInfo& run, int world_size) {
  for (int rank = world_size; rank < run.world_size; ++rank) {
    const std::string writer = journal::worker_name(rank);
    if (earlier_words(storage, run, writer).run_ended) continue;
    journal::JournalOptions options;
    options.writer = writer;
    options.writer_id = static_cast<std::uint32_t>(rank);
    options.pid = ::getpid();
    const Status ended = [&]() -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(auto journal, journal::JournalWriter::open(storage, clock, run, std::move(options)));
      const std::string reason = fmt::format("the run goes on with {} of {} workers", world_size, run.world_size);
      TRAINWARDEN_RETURN_IF_ERROR(
          journal->append_event(format::FrameKind::kEvent, -1, format::encode_run_end({.reason = reason})));
      return journal->seal();
    }();
    if (!ended.ok()) log(LogLevel::kWarning, "that {} does not go on cannot be written: {}", writer, ended.to_string());
  }
}

// None where nothing has to be kept within limits. Beside the journals a run has little.
std::unique_ptr<SpaceKeeper> make_space_keeper(const HookOptions& options,
                                               const std::shared_ptr<storage::Storage>& storage, const Clock& clock) {
  SpaceLimits limits{options.max_run_bytes, 0};
  const std::filesystem::path folder = options.run_dir;
  if (const auto disk = storage::disk_space(folder)) {
    const bool is_default = options.min_free_bytes == HookOptions().min_free_bytes;
    limits.free_bytes = kept_free(options.min_free_bytes, is_default, *disk);
  }
  if (limits.run_bytes == 0 && limits.free_bytes == 0) return nullptr;
  const auto measure = [storage, folder, limits] {
    SpaceKeeper::Look look;
    if (limits.run_bytes > 0) look.run_bytes = journal::journal_bytes(*storage);
    const auto disk = limits.free_bytes > 0 ? storage::disk_space(folder) : std::nullopt;
    if (disk) look.free_bytes = disk->free_bytes;
    return look;
  };
  return std::make_unique<SpaceKeeper>(limits, measure, clock);
}

// The journal of this worker, and the requests that concern it.
struct OpenedRun {
  std::unique_ptr<journal::JournalWriter> journal;
  StopRequests stop_requests;
  std::unique_ptr<CaptureChanges> changes;
  std::unique_ptr<CheckpointRequests> checkpoints;
  std::unique_ptr<ProfileRequests> profiles;
  std::unique_ptr<ExamineRequests> examinations;
  std::optional<BoxHead> box_head{};
  std::unique_ptr<SpaceKeeper> space{};
};

Result<OpenedRun> open_run(const HookOptions& options, const CapturePlan& plan,
                           const std::shared_ptr<storage::Storage>& storage, const Clock& clock) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const journal::RunInfo own, describe_run(options, clock));
  TRAINWARDEN_ASSIGN_OR_RETURN(const journal::RunInfo run, journal::create_or_join_run(*storage, own, options.resume));
  TRAINWARDEN_RETURN_IF_ERROR(storage->create_folder(format::kControlFolder));  // for those who ask for a stop
  journal::JournalOptions journal_options;
  journal_options.writer = journal::worker_name(options.rank);
  journal_options.writer_id = static_cast<std::uint32_t>(options.rank);
  journal_options.segment_bytes = options.segment_bytes;
  journal_options.sync_each_step = options.durability == Durability::kStep;
  journal_options.sync_each_segment = options.durability == Durability::kInterval;
  journal_options.collections = plan.collections();
  journal_options.pid = ::getpid();
  const std::string writer = journal_options.writer;
  TRAINWARDEN_ASSIGN_OR_RETURN(std::unique_ptr<journal::JournalWriter> journal,
                               journal::JournalWriter::open(*storage, clock, run, std::move(journal_options)));

  // Looked at under the lock: nobody else can end the run meanwhile.
  EarlierWords earlier = earlier_words(*storage, run, writer);
  if (earlier.run_ended && !options.resume) {
    return Status(Code::kAlreadyExists,
                  fmt::format("{} holds a finished run, and a run is never overwritten; choose a new folder, move this "
                              "one away, or go on with it (resume)",
                              storage->describe("")));
  }
  if (earlier.run_ended) {
    TRAINWARDEN_RETURN_IF_ERROR(journal->append_event(format::FrameKind::kEvent, -1, format::encode_run_resume()));
  }
  if (options.rank == 0) end_for_absent(*storage, clock, run, options.world_size);
  const std::string id = journal::run_identity(run);
  return OpenedRun{std::move(journal),
                   StopRequests(storage, std::move(earlier.stop_keys), id),
                   std::make_unique<CaptureChanges>(storage, options, std::move(earlier.capture_keys), id),
                   std::make_unique<CheckpointRequests>(storage, options, std::move(earlier.checkpoints), clock, id),
                   std::make_unique<ProfileRequests>(storage, std::move(earlier.profile_keys), id),
                   std::make_unique<ExamineRequests>(storage, id),
                   make_box_head(run, options.rank, ::getpid(), plan.collections()),
                   make_space_keeper(options, storage, clock)};
}

}  // namespace

std::unique_ptr<Hook> HookOpener::off(HookOptions options, std::string reason) {
  return std::unique_ptr<Hook>(new Hook(std::make_unique<Hook::Impl>(std::move(options), std::move(reason))));
}

Result<std::unique_ptr<Hook>> HookOpener::open(HookOptions options, std::shared_ptr<storage::Storage> storage,
                                               const Clock& clock, device::AcceleratorFactory open_accelerator) {
  return no_throw([&]() -> Result<std::unique_ptr<Hook>> {
    TRAINWARDEN_RETURN_IF_ERROR(check_options(options));
    if (auto reason = why_left_out(options)) return off(std::move(options), *std::move(reason));
    if (options.include_workers == IncludeWorkers::kOne) options.world_size = 1;
    TRAINWARDEN_ASSIGN_OR_RETURN(std::unique_ptr<CapturePlan> plan, CapturePlan::resolve(options));
    if (is_box_sampled(process_environment)) plan->sample_black_box();
    OpenedRun run{std::make_unique<DryJournal>(),
                  StopRequests(nullptr, {}),
                  std::make_unique<CaptureChanges>(nullptr, options, std::set<std::string>()),
                  std::make_unique<CheckpointRequests>(nullptr, options, EarlierCheckpoints(), clock),
                  std::make_unique<ProfileRequests>(nullptr, std::set<std::string>()),
                  std::make_unique<ExamineRequests>(nullptr)};
    if (!options.dry_run) {
      TRAINWARDEN_ASSIGN_OR_RETURN(run, open_run(options, *plan, storage, clock));
    }
    watch_forks();
    auto impl = std::make_unique<Hook::Impl>(std::move(options));
    CaptureSession::Parts parts{.plan = std::move(plan),
                                .journal = std::move(run.journal),
                                .stop_requests = std::move(run.stop_requests),
                                .changes = std::move(run.changes),
                                .checkpoints = std::move(run.checkpoints),
                                .profiles = std::move(run.profiles),
                                .examinations = std::move(run.examinations),
                                .storage = std::move(storage),
                                .clock = clock,
                                .counter = impl->counter,
                                .box_head = std::move(run.box_head),
                                .space = std::move(run.space),
                                .open_accelerator = std::move(open_accelerator)};
    TRAINWARDEN_ASSIGN_OR_RETURN(impl->session, CaptureSession::start(impl->options, std::move(parts)));
    return std::unique_ptr<Hook>(new Hook(std::move(impl)));
  });
}

Status HookOpener::install_judge(Hook& hook, const MakeJudge& make) {
  return no_throw([&] {
    CaptureSession* const session = hook.impl_->live();
    if (session == nullptr) return Status();
    const HookOptions& options = hook.impl_->options;
    return session->install(make, journal::worker_name(options.rank), options.world_size);
  });
}

bool HookOpener::end_idle_step(Hook& hook) {
  if (hook.impl_->live() == nullptr) {
    hook.impl_->counter.advance();
    return true;
  }
  bool ended = false;
  hook.impl_->guarded([&](CaptureSession& session) { ended = session.end_idle_step(); });
  return ended;
}

bool end_idle_step(Hook& hook) {
  return HookOpener::end_idle_step(hook);
}

}  // namespace trainwarden::capture
