#include "hook/capture/capture_session.h"

#include <cstdlib>
#include <span>
#include <utility>

#include "core/base/hook_variables.h"
#include "hook/capture/budget/beside_time.h"

namespace trainwarden::capture {
namespace {

constexpr std::string_view kTimesAreSignals[] = {"signals"};
constexpr std::size_t kGrownStagingBytes = std::size_t{1} << 30;  // at most, where nobody has said how much

// Who waits needs room for what is written and what fills meanwhile, and no more.
StagingGrowth growth_of(WhenFull when_full) {
  StagingGrowth growth;
  growth.waits = when_full == WhenFull::kBlock;
  if (growth.waits) growth.first_bytes /= 2;
  return growth;
}

bool is_training(Mode mode) {
  return mode == Mode::kTrain || mode == Mode::kGlobal;
}

}  // namespace

Result<std::unique_ptr<CaptureSession>> CaptureSession::start(const HookOptions& options, Parts parts) {
  const bool said = options.staging_bytes != HookOptions().staging_bytes;
  TRAINWARDEN_ASSIGN_OR_RETURN(
      std::unique_ptr<StagingArea> staging,
      StagingArea::create(said ? options.staging_bytes : kGrownStagingBytes, growth_of(options.when_full)));
  std::optional<BoxHead> box_head = std::move(parts.box_head);
  std::unique_ptr<CaptureSession> session(new CaptureSession(options, std::move(parts), std::move(staging)));
  TRAINWARDEN_RETURN_IF_ERROR(
      session->box_.create(options.black_box, std::move(box_head), session->storage_, session->clock_));
  session->changes_.look_for_earlier();
  session->checkpoints_.look_for_earlier();
  session->operators_.requests().look();
  session->begin_step();
  TRAINWARDEN_RETURN_IF_ERROR(session->writer_.start());
  session->count_beside(options.world_size);
  return session;
}

CaptureSession::CaptureSession(const HookOptions& options, Parts parts, std::unique_ptr<StagingArea> staging)
    : clock_(parts.clock),
      counter_(parts.counter),
      storage_(std::move(parts.storage)),
      plan_(std::move(parts.plan)),
      staging_(std::move(staging)),
      bill_(options.budget, clock_),
      devices_(std::move(parts.open_accelerator), *staging_),
      tensors_(*plan_),
      box_(options.budget, tensors_, *staging_, bill_, state_, writer_),
      step_(*staging_, tensors_.table(), *plan_),
      intake_(options.when_full, *staging_, step_, losses_, state_),
      device_keeper_(devices_, intake_),
      saves_(tensors_, intake_, device_keeper_, handover_, box_, bill_, state_),
      changes_(std::move(parts.changes), tensors_, bill_, counter_, writer_),
      checkpoints_(std::move(parts.checkpoints), options.rank, counter_, writer_),
      examinations_(std::move(parts.examinations)),
      operators_(options, std::move(parts.profiles), clock_, *staging_, bill_, writer_),
      judging_({.tensors = tensors_,
                .step = step_,
                .devices = device_keeper_,
                .box = box_,
                .bill = bill_,
                .state = state_,
                .counter = counter_,
                .clock = clock_,
                .writer = writer_}),
      has_budget_(options.budget > 0),
      handover_(intake_, devices_, counter_, *staging_, bill_, writer_),
      writer_(std::make_unique<JournalFeed>(std::move(parts.journal), std::move(parts.stop_requests),
                                            changes_.changes(), options.durability, counter_, clock_, losses_)) {
  if (parts.space != nullptr) writer_.keep_within(std::move(parts.space));
  writer_.look_for(checkpoints_.requests());
  writer_.look_for(operators_.requests());
  writer_.look_for(*examinations_);
  if (options.budget > 0) {
    writer_.look_seldom();
    writer_.call_at_looks([this] { bill_.look_beside(); });
  }
}

// Only where steps are measured by the same clock as CPU time, and not by that of a test.
void CaptureSession::count_beside(int workers) {
  if (&clock_ != &system_clock()) return;
  const BesideTime beside([this] { return writer_.cpu_ns(); }, std::getenv(variable::kWatcher), workers);
  bill_.count_beside([beside](std::int64_t wall_ns) { return beside.spent_ns(wall_ns); });
}

void CaptureSession::end_group() {
  const Bill::Timer timer(bill_);
  devices_.end_group();
}

Status CaptureSession::install(const MakeJudge& make, std::string worker, int world_size) {
  if (closed_ && !judging_.has_judge()) return Status(Code::kFailedPrecondition, "the hook is closed");
  TRAINWARDEN_RETURN_IF_ERROR(judging_.install(make, {storage_, clock_, std::move(worker), world_size}));
  handover_.keep_steps_whole();
  begin_step();
  judging_.announce();
  return Status();
}

void CaptureSession::set_mode(Mode mode) {
  if (mode == counter_.current().mode || judging_.is_asking()) return;
  if (!step_.step_is_empty() || saves_.has_open_shards()) end_step();
  bill_.end_idle_steps(counter_.current());
  counter_.set_mode(mode);
  begin_step();
}

void CaptureSession::begin_step() {
  changes_.apply_accepted();
  const StepId id = counter_.current();
  box_.begin_step(id);
  Restraint restraint = bill_.restraint(id.mode);
  const std::int64_t now_ns = clock_.steady_ns();
  const bool is_pulse = pulse_.is_due(now_ns, id.mode_step) && is_training(id.mode);
  if (is_pulse) restraint.losses_factor = restraint.signals_factor = 1;
  plan_->begin_step(id.mode, id.mode_step, restraint);
  const StepDemand& demand = plan_->demand();
  const bool has_signals = is_pulse || demand.signals || demand.wanted;  // losses alone are no pulse
  const bool is_kept = plan_->anything_wanted() && has_signals && is_training(id.mode);
  const auto why = is_pulse ? Pulse::Kept::kByThePulse : Pulse::Kept::kByItsInterval;
  pulse_.begin_step(is_kept ? why : Pulse::Kept::kNot, now_ns, id.mode_step, bill_.inside_ns());
  operators_.begin_step(id.global_step);
}

// A rule that ends the step which it judges would take it away from the others: it does not.
StepEnd CaptureSession::end_step() {
  const StepId id = counter_.current();
  if (judging_.is_asking()) return {.global_step = id.global_step, .mode = id.mode, .mode_step = id.mode_step};
  end_group();
  saves_.end_shards();
  judging_.step_ends();
  handover_.end_step(id);
  operators_.end_step(id);
  box_.end_step(id);
  if (step_times_.is_on()) step_times_.end_step(id.mode, clock_.steady_ns());
  ++steps_;
  if (const auto event = bill_.end_step(id, plan_->demand())) writer_.enqueue(format::encode_budget_event(*event));
  counter_.advance();
  begin_step();
  return answer_to(id);
}

void CaptureSession::pass_all_but_last(std::int64_t steps) {
  if (judging_.is_asking()) return;
  step_times_.share(steps);
  for (std::int64_t i = 1; i < steps; ++i) {
    const StepId id = counter_.current();
    operators_.end_step(id);
    if (step_times_.is_on()) step_times_.end_step(id.mode, clock_.steady_ns());
    ++steps_;
    bill_.pass_idle_step();
    counter_.advance();
    plan_->pass_step();
    operators_.begin_step(counter_.current().global_step);
  }
}

StepEnd CaptureSession::answer_to(const StepId& id) const {
  StepEnd end{.global_step = id.global_step, .mode = id.mode, .mode_step = id.mode_step};
  if (const format::StopRequest* stop = writer_.stop()) {
    end.stop_requested = true;
    end.stop_reason = stop->reason;
  }
  end.checkpoint_requested = checkpoints_.any();  // after the stop: who asked for it first is heard no later
  return end;
}

// What others ask for is seen at the end of each step, idle or not.
bool CaptureSession::end_idle_step() {
  if (judging_.has_judge() || changes_.any_accepted() || checkpoints_.any() || writer_.stop() != nullptr) return false;
  if (!operators_.may_pass(counter_.current().global_step)) return false;
  if (!step_.step_is_empty() || saves_.has_open_shards()) return false;
  if (!step_times_.is_on()) {
    if (!plan_->pass_idle_step()) return false;
  } else {
    const StepId id = counter_.current();
    const std::int64_t now_ns = clock_.steady_ns();
    const bool is_pulse_next = pulse_.is_due(now_ns, id.mode_step + 1) && is_training(id.mode);
    if (is_pulse_next || !plan_->pass_idle_step()) return false;
    step_times_.end_step(id.mode, now_ns);
  }
  ++steps_;
  bill_.pass_idle_step();
  counter_.advance();
  return true;
}

void CaptureSession::save_step_times() {
  if (!step_times_.is_on()) {
    step_times_.switch_on();
    if (has_budget_) pulse_.switch_on(clock_.steady_ns(), counter_.current().mode_step);
    return;
  }
  const TensorId id = tensors_.declare("trainwarden/step_times", kTimesAreSignals);
  if (!tensors_.wants(id)) return;
  const std::span<const float> seconds = step_times_.newest();
  if (seconds.empty()) return;
  TensorView view;
  view.data = seconds.data();
  view.dtype = DType::kFloat32;
  view.shape = Shape{static_cast<std::int64_t>(seconds.size())};
  saves_.save_tensor(id, view);
  step_times_.forget();
}

Status CaptureSession::close(std::chrono::nanoseconds timeout) {
  if (closed_) return close_status_;
  closed_ = true;
  box_.stop_catching_signals();
  saves_.end_shards();
  if (!step_.step_is_empty()) judging_.step_ends();
  operators_.close(counter_.current());
  switch_off("closed");
  staging_->end_waiting();
  devices_.end_group();
  std::unique_ptr<StagedStep> last_step = step_.end(counter_.current());
  if (last_step != nullptr) {
    ++steps_;
    bill_.end_step(counter_.current(), plan_->demand());
    counter_.advance();
  }
  bill_.end_idle_steps(counter_.current());
  if (const auto event = bill_.last_event()) writer_.enqueue(format::encode_budget_event(*event));
  close_status_ = writer_.finish(std::move(last_step), timeout);
  return close_status_;
}

void CaptureSession::lose(LossCause cause, std::uint64_t count, std::uint64_t bytes, std::string_view message) {
  intake_.lose(cause, count, bytes, [&] { return std::string(message); });
}

HookReport CaptureSession::report() const {
  HookReport report;
  const WrittenCounts& written = writer_.written();
  report.steps = steps_;
  report.kept_tensors = written.tensors;
  report.kept_bytes = written.tensor_bytes;
  report.statistics = written.statistics;
  report.scalars = written.scalars;
  report.reductions = written.reductions;
  report.operator_calls = written.operator_calls;
  report.training_thread_ns = bill_.hook_ns();
  report.bill = bill_.report(counter_.current().mode);
  report.vetoes = judging_.vetoes();
  box_.add_to(report.black_box);
  report.losses = losses_.losses();
  state_.add_to(report);
  return report;
}

}  // namespace trainwarden::capture
