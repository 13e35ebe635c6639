#include "trainwarden/hook.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "hook/capture/black_box/crash_writer.h"
#include "hook/capture/config/hook_environment.h"
#include "hook/capture/hook_impl.h"
#include "hook/capture/open_hook.h"
#include "store/storage/location.h"

namespace trainwarden {
namespace {

constexpr std::chrono::seconds kCloseTimeout{30};
constexpr std::chrono::milliseconds kLongestTimeout = std::chrono::hours(24 * 365);

Status fault() {
  return Status(Code::kInternal, "the hook failed; its report says how");
}

void log_losses(const std::vector<CaptureLoss>& losses) {
  for (const CaptureLoss& loss : losses) {
    log(LogLevel::kWarning, "not in the run: {} item(s) of {}, {}; the first: {}", loss.count, format_bytes(loss.bytes),
        name(loss.cause), loss.first_message);
  }
}

}  // namespace

// A fault that should not have been possible: better no hook than one that harms the training.
void Hook::Impl::contain(capture::CaptureSession& session, const char* fault) noexcept {
  try {
    log(LogLevel::kError, "the hook switches itself off: {}", fault);
    session.switch_off(fault);
  } catch (...) {
    // Not even room for the reason.
  }
}

void Hook::Impl::count_out_of_memory(capture::CaptureSession& session) noexcept {
  try {
    session.lose(LossCause::kOutOfMemory, 1, 0, "out of memory");
  } catch (...) {
    // The count was made before there was no room for its message.
  }
}

Result<std::unique_ptr<Hook>> Hook::open(HookOptions options) {
  return no_throw([&]() -> Result<std::unique_ptr<Hook>> {
    if (capture::switched_off(process_environment)) {
      return capture::HookOpener::off(std::move(options), "TRAINWARDEN in the environment says so");
    }
    if (options.run_dir.empty() && !options.dry_run) {
      return Status(Code::kInvalidArgument,
                    "run_dir is not set: name the run's folder in HookOptions, or in TRAINWARDEN_RUN_DIR and use "
                    "hook_options_from_environment()");
    }
    if (options.dry_run) return capture::HookOpener::open(std::move(options), nullptr, system_clock());
    // Absolute: the training program may change its working directory.
    const storage::Location run = storage::Location(options.run_dir).absolute();
    auto hook = capture::HookOpener::open(std::move(options), run.shared_storage(), system_clock());
    const auto folder = run.folder();
    if (!hook.ok() || !folder) return hook;  // a signal handler can write into a folder only
    (*hook)->impl_->guarded([&](capture::CaptureSession& session) { session.box().catch_signals(*folder); });
    return hook;
  });
}

std::unique_ptr<Hook> Hook::disabled() {
  return capture::HookOpener::off(HookOptions(), "disabled");
}

Hook::Hook(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Hook::~Hook() {
  const Status status = close();
  if (!status.ok()) log(LogLevel::kError, "the run could not be closed: {}", status.to_string());
}

void Hook::set_mode(Mode mode) {
  if (impl_->live() == nullptr) return impl_->counter.set_mode(mode);
  impl_->guarded([&](capture::CaptureSession& session) { session.set_mode(mode); });
}

Mode Hook::mode() const {
  return impl_->counter.current().mode;
}
std::int64_t Hook::global_step() const {
  return impl_->counter.current().global_step;
}
std::int64_t Hook::mode_step() const {
  return impl_->counter.current().mode_step;
}

StepEnd Hook::end_step() {
  const capture::StepId id = impl_->counter.current();
  StepEnd end{.global_step = id.global_step, .mode = id.mode, .mode_step = id.mode_step};
  if (impl_->live() == nullptr) {
    impl_->counter.advance();
    return end;
  }
  impl_->guarded([&](capture::CaptureSession& session) { end = session.end_step(); });
  return end;
}

void Hook::begin_steps(std::int64_t steps) {
  impl_->guarded([&](capture::CaptureSession& session) { session.begin_steps(steps); });
}

StepEnd Hook::end_steps(std::int64_t steps) {
  for (; steps > 1 && impl_->live() == nullptr; --steps) impl_->counter.advance();
  if (steps > 1) impl_->guarded([&](capture::CaptureSession& session) { session.pass_all_but_last(steps); });
  if (steps > 0) return end_step();
  const capture::StepId id = impl_->counter.current();
  return {.global_step = id.global_step, .mode = id.mode, .mode_step = id.mode_step};
}

StepAdvice Hook::judge_step() {
  capture::CaptureSession* const session = impl_->live();
  if (session == nullptr || !session->judging().has_judge()) return StepAdvice::kProceed;
  StepAdvice advice = StepAdvice::kProceed;
  impl_->guarded([&](capture::CaptureSession& live) { advice = live.judging().judge_step(); });
  return advice;
}

std::string_view Hook::judge_reason() const {
  const capture::CaptureSession* const session = impl_->live();
  return session == nullptr ? std::string_view() : session->judging().reason();
}

std::string_view name(StepAdvice advice) {
  switch (advice) {
    case StepAdvice::kProceed: return "proceed";
    case StepAdvice::kSkipStep: return "skip_step";
    case StepAdvice::kStop: return "stop";
  }
  return "unknown";
}

TensorId Hook::declare(std::string_view name) {
  return declare(name, {});
}

TensorId Hook::declare(std::string_view name, std::span<const std::string_view> collections) {
  TensorId id;
  impl_->guarded([&](capture::CaptureSession& session) { id = session.tensors().declare(name, collections); });
  return id;
}

bool Hook::wants(TensorId id) {
  bool wanted = false;
  impl_->guarded([&](capture::CaptureSession& session) { wanted = session.tensors().wants(id); });
  return wanted;
}

bool Hook::wants(std::string_view name) {
  bool wanted = false;
  impl_->guarded([&](capture::CaptureSession& session) {
    wanted = session.plan().anything_wanted() && session.tensors().wants(name);
  });
  return wanted;
}

bool Hook::wants_collection(std::string_view collection) {
  bool wanted = false;
  impl_->guarded([&](capture::CaptureSession& session) {
    wanted = session.plan().anything_wanted() && session.plan().wants_collection(collection);
  });
  return wanted;
}

bool Hook::wants_anything() const {
  const capture::CaptureSession* const session = impl_->live();
  return session != nullptr && session->plan().anything_wanted();
}

bool Hook::wants_only_losses() const {
  const capture::CaptureSession* const session = impl_->live();
  return session != nullptr && session->plan().only_losses_wanted();
}

std::optional<std::int64_t> Hook::next_wanted_step(TensorId id) {
  std::optional<std::int64_t> next;
  impl_->guarded([&](capture::CaptureSession& session) { next = session.tensors().next_wanted_step(id); });
  return next;
}

void Hook::save_tensor(TensorId id, const TensorView& tensor) {
  impl_->guarded([&](capture::CaptureSession& session) {
    if (session.plan().anything_wanted()) session.saves().save_tensor(id, tensor);
  });
}

void Hook::save_tensor(std::string_view name, const TensorView& tensor) {
  impl_->guarded([&](capture::CaptureSession& session) {
    if (session.plan().anything_wanted()) session.saves().save_tensor(name, tensor);
  });
}

void Hook::save_strings(std::string_view name, std::span<const std::string_view> strings) {
  impl_->guarded([&](capture::CaptureSession& session) {
    if (session.plan().anything_wanted()) session.saves().save_strings(name, strings);
  });
}

void Hook::save_scalar(std::string_view name, double value) {
  impl_->guarded([&](capture::CaptureSession& session) { session.saves().save_scalar(name, value); });
}

void Hook::save_observation(TensorId id, const TensorView& tensor) {
  impl_->guarded([&](capture::CaptureSession& session) { session.saves().save_observation(id, tensor); });
}

void Hook::save_step_times() {
  impl_->guarded([](capture::CaptureSession& session) { session.save_step_times(); });
}

void Hook::save_reductions(TensorId id, std::span<const SavedReduction> reductions) {
  impl_->guarded([&](capture::CaptureSession& session) {
    if (session.plan().anything_wanted()) session.saves().save_reductions(id, reductions);
  });
}

void Hook::save_reductions(std::string_view name, std::span<const SavedReduction> reductions) {
  impl_->guarded([&](capture::CaptureSession& session) {
    if (session.plan().anything_wanted()) session.saves().save_reductions(name, reductions);
  });
}

void Hook::save_statistics(TensorId id, const GivenStatistics& given) {
  impl_->guarded([&](capture::CaptureSession& session) {
    if (session.plan().anything_wanted()) session.saves().save_statistics(id, given);
  });
}

void Hook::save_statistics(std::string_view name, const GivenStatistics& given) {
  impl_->guarded([&](capture::CaptureSession& session) {
    if (session.plan().anything_wanted()) session.saves().save_statistics(name, given);
  });
}

void Hook::save_shard(TensorId id, const TensorView& part, const Shape& global_shape,
                      std::span<const std::int64_t> offsets, int replica) {
  impl_->guarded([&](capture::CaptureSession& session) {
    if (session.plan().anything_wanted()) session.saves().save_shard(id, {part, global_shape, offsets}, replica);
  });
}

bool Hook::wants_operators() const {
  const capture::CaptureSession* const session = impl_->live();
  return session != nullptr && session->operators().wants_calls();
}

OperatorRecorder& Hook::operators() {
  static OperatorRecorder& none = capture::OperatorLogs::create().recorder();
  return impl_->session == nullptr ? none : impl_->session->operators().recorder();
}

std::int64_t Hook::take_examination() {
  capture::CaptureSession* const session = impl_->live();
  return session == nullptr ? 0 : session->examinations().take();
}

void Hook::add_cost(std::chrono::nanoseconds spent) {
  impl_->guarded([&](capture::CaptureSession& session) { session.add_cost(spent); });
}

void Hook::begin_group() {
  impl_->guarded([](capture::CaptureSession& session) { session.begin_group(); });
}

void Hook::end_group() {
  impl_->guarded([](capture::CaptureSession& session) { session.end_group(); });
}

bool Hook::remembers() const {
  const capture::CaptureSession* const session = impl_->live();
  return session != nullptr && session->saves().remembers();
}

void Hook::remember(std::string_view name, const TensorView& tensor) {
  impl_->guarded([&](capture::CaptureSession& session) { session.saves().remember(name, tensor); });
}

bool Hook::dump_black_box(const BlackBoxReason& reason) {
  bool begun = false;
  impl_->guarded([&](capture::CaptureSession& session) { begun = session.box().dump(reason); });
  return begun;
}

void Hook::offer_checkpoints() {
  impl_->guarded([](capture::CaptureSession& session) { session.checkpoints().offer(); });
}

std::optional<CheckpointRequest> Hook::take_checkpoint_request() {
  std::optional<CheckpointRequest> request;
  impl_->guarded([&](capture::CaptureSession& session) { request = session.checkpoints().take(); });
  return request;
}

void Hook::answer_checkpoint(const CheckpointRequest& request, const Result<std::filesystem::path>& saved) {
  impl_->guarded([&](capture::CaptureSession& session) { session.checkpoints().answer(request, saved); });
}

Result<std::filesystem::path> Hook::write_checkpoint(std::string_view ending,
                                                     const std::function<Status(const std::filesystem::path&)>& write) {
  Result<std::filesystem::path> written = Status(Code::kFailedPrecondition, "the hook is switched off");
  const bool done =
      impl_->guarded([&](capture::CaptureSession& session) { written = session.checkpoints().write(ending, write); });
  return done ? written : fault();
}

Status Hook::flush(std::chrono::milliseconds timeout) {
  const auto wait = std::clamp(timeout, std::chrono::milliseconds(0), kLongestTimeout);
  Status status;
  const bool done = impl_->guarded([&](capture::CaptureSession& session) { status = session.flush(wait); });
  return done ? status : fault();
}

Status Hook::close() {
  Status status;
  const bool done = impl_->guarded([&](capture::CaptureSession& session) {
    const bool first = !session.closed();
    status = session.close(kCloseTimeout);
    if (first) log_losses(session.report().losses);
  });
  return done ? status : fault();
}

HookReport Hook::report() const {
  HookReport report;
  report.on = false;
  report.off_reason = impl_->in_forked_child() ? "forked from the process that opened the hook" : impl_->off_reason;
  impl_->guarded([&](capture::CaptureSession& session) { report = session.report(); });
  return report;
}

const HookOptions& Hook::options() const {
  return impl_->options;
}

bool signal_ends_process(int signal_number) {
  return capture::CrashWriter::signal_ends_process(signal_number);
}

}  // namespace trainwarden
