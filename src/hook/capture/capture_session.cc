#include "hook/capture/capture_session.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/environment_names.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "hook/capture/budget/beside_time.h"
#include "hook/capture/gpu/device_items.h"
#include "hook/capture/requests/checkpoint_file.h"
#include "hook/capture/staging/packed_strings.h"

namespace trainwarden::capture {
namespace {

constexpr std::string_view kScalarsCollection = "scalars";
constexpr std::size_t kGrownStagingBytes = std::size_t{1} << 30;  // at most, where nobody has said how much

// Why the hook cannot read the tensor's elements; nullptr when it can.
const char* why_unreadable(const TensorView& view) {
  if (view.data == nullptr && view.element_count() > 0) return "it has no memory";
  return nullptr;
}

// Says for its life that a judge is at work.
class Judging {
 public:
  explicit Judging(bool& flag) : flag_(flag) { flag_ = true; }
  ~Judging() { flag_ = false; }
  Judging(const Judging&) = delete;
  Judging& operator=(const Judging&) = delete;

 private:
  bool& flag_;
};

std::string about(const TensorEntry& entry, std::string_view problem) {
  return fmt::format("{}: {}", printable(entry.name), problem);
}

}  // namespace

Result<std::unique_ptr<CaptureSession>> CaptureSession::start(const HookOptions& options, Parts parts) {
  const bool said = options.staging_bytes != HookOptions().staging_bytes;
  TRAINWARDEN_ASSIGN_OR_RETURN(std::unique_ptr<StagingArea> staging,
                               StagingArea::create(said ? options.staging_bytes : kGrownStagingBytes));
  std::optional<BoxHead> box_head = std::move(parts.box_head);
  std::unique_ptr<CaptureSession> session(new CaptureSession(options, std::move(parts), std::move(staging)));
  TRAINWARDEN_RETURN_IF_ERROR(session->set_up_black_box(options.black_box, std::move(box_head)));
  session->take_earlier_requests();
  TRAINWARDEN_RETURN_IF_ERROR(session->writer_.start());
  session->count_beside(options.world_size);
  return session;
}

CaptureSession::CaptureSession(const HookOptions& options, Parts parts, std::unique_ptr<StagingArea> staging)
    : rank_(options.rank),
      when_full_(options.when_full),
      budget_(options.budget),
      clock_(parts.clock),
      counter_(parts.counter),
      storage_(std::move(parts.storage)),
      plan_(std::move(parts.plan)),
      staging_(std::move(staging)),
      devices_(std::move(parts.open_accelerator), *staging_),
      changes_(std::move(parts.changes)),
      checkpoints_(std::move(parts.checkpoints)),
      bill_(options.budget, parts.clock),
      assembler_(*staging_, tensors_, *plan_),
      writer_(std::make_unique<JournalFeed>(std::move(parts.journal), std::move(parts.stop_requests), *changes_,
                                            options.durability, counter_, clock_, ledger_)) {
  writer_.look_for(*checkpoints_);
  if (budget_ > 0) {
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

Status CaptureSession::set_up_black_box(const BlackBoxOptions& options, std::optional<BoxHead> head) {
  if (options.steps == 0) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(box_, BlackBox::create(options, tensors_, *plan_, clock_));
  dumper_ = std::make_unique<BoxDumper>(storage_, head ? *std::move(head) : BoxHead(), *box_, clock_);
  writer_.write_dumps_with(*dumper_);
  return Status();
}

// Of before this process, or before this worker came: they hold from the first step on.
void CaptureSession::take_earlier_requests() {
  for (const format::CaptureAnswer& refused : changes_->look(false)) {
    writer_.tell(format::encode_capture_answer(refused));
  }
  writer_.tell(checkpoints_->look(false, counter_.current().global_step - 1));
  begin_step();
}

// Names.

TensorEntry* CaptureSession::entry_of(std::string_view name) {
  if (TensorEntry* entry = tensors_.find(name)) return entry;
  return add_entry(name);
}

// Kept out of entry_of(), which every tensor that is not wanted goes through.
[[gnu::noinline]] TensorEntry* CaptureSession::add_entry(std::string_view name) {
  return tensors_.add(name, [&](std::string_view added) -> const Membership& { return plan_->membership_of(added); });
}

void CaptureSession::add_to(TensorEntry& entry, std::span<const std::string_view> collections) {
  tensors_.update_membership(entry, [&](const TensorEntry& updated) -> const Membership& {
    return plan_->with_collections(*updated.membership.load(std::memory_order_acquire), collections);
  });
}

TensorId CaptureSession::declare(std::string_view name, std::span<const std::string_view> collections) {
  TensorEntry* entry = entry_of(name);
  if (entry == nullptr) return TensorId();
  if (!collections.empty()) add_to(*entry, collections);
  return TensorId{entry->id};
}

bool CaptureSession::wants(TensorId id) const {
  const TensorEntry* entry = tensors_.find(id);
  return entry != nullptr && entry->form_now() != 0;
}

bool CaptureSession::wants(std::string_view name) {
  const TensorEntry* entry = entry_of(name);
  return entry != nullptr && entry->form_now() != 0;
}

std::optional<std::int64_t> CaptureSession::next_wanted_step(TensorId id) const {
  const TensorEntry* entry = tensors_.find(id);
  if (entry == nullptr) return std::nullopt;
  return plan_->next_wanted_step(*entry->membership.load(std::memory_order_acquire));
}

// Saving.

void CaptureSession::save_tensor(TensorId id, const TensorView& view) {
  if (TensorEntry* entry = tensors_.find(id)) return save(*entry, view);
  lose_undeclared(id);
}

void CaptureSession::save_tensor(std::string_view name, const TensorView& view) {
  if (TensorEntry* entry = entry_of(name)) return save(*entry, view);
  lose_nameless();
}

void CaptureSession::save(TensorEntry& entry, const TensorView& view) {
  const FormBits form = entry.form_now();
  if (form == 0) return;
  const Bill::Timer timer(bill_);
  if (const char* problem = why_unreadable(view)) {
    return lose_saved(LossCause::kUnsupported, 0, [&] { return about(entry, problem); });
  }
  if (view.dtype == DType::kString) {
    std::vector<std::string_view> strings(static_cast<std::size_t>(view.element_count()));
    const Status status = copy_packed(view, strings.data());
    if (status.ok()) return save_whole_strings(entry, form, view.shape, strings);
    return lose_saved(LossCause::kUnsupported, 0, [&] { return about(entry, status.message()); });
  }
  if (!is_on()) return lose_saved(LossCause::kHookOff, view.packed_bytes(), [&] { return printable(entry.name); });
  if ((form & kBlackBoxBit) != 0) box_->keep(entry, view);
  if ((form & ~kBlackBoxBit) == 0) return;
  if (!view.device.host_readable()) return save_from_device(entry, form, view);

  const bool values_wanted = (form & kValuesBit) != 0;
  if (values_wanted && keep_values(entry, form, view)) return;
  const bool in_their_place = values_wanted && when_full_ == WhenFull::kStatistics;
  if ((form & kAnyStatisticsBits) != 0 || in_their_place) {
    keep_statistics(entry, form, view);
  } else if ((form & kShapeBit) != 0) {
    keep_shape(entry, view.dtype, view.shape);
  }
}

// The statistics of a tensor that is kept whole are left to the writer thread.
bool CaptureSession::keep_values(TensorEntry& entry, FormBits form, const TensorView& view) {
  auto slot = claim(entry, view.packed_bytes());
  if (!slot) return false;
  const Status copied = slot->memory().empty() ? Status() : copy_packed(view, slot->memory().data());
  if (!copied.ok()) {
    lose_saved(LossCause::kUnsupported, 0, [&] { return about(entry, copied.message()); });
    return false;
  }
  StagedTensor tensor;
  tensor.dtype = view.dtype;
  tensor.shape = view.shape;
  tensor.statistics = form & kAnyStatisticsBits;
  add(entry, 0, [&] { return assembler_.add_tensor(*std::move(slot), entry, std::move(tensor)); });
  return true;
}

void CaptureSession::keep_statistics(TensorEntry& entry, FormBits form, const TensorView& view) {
  StatisticsOptions options;
  options.histogram = (form & kHistogramBit) != 0;
  options.hash = (form & kHashBit) != 0;
  Result<Statistics> statistics = compute_statistics(view, options);
  if (!statistics.ok()) {
    return lose_saved(LossCause::kUnsupported, 0, [&] { return about(entry, statistics.status().message()); });
  }
  add_row(entry, {.dtype = view.dtype, .shape = view.shape, .statistics = *std::move(statistics)});
}

void CaptureSession::keep_shape(TensorEntry& entry, DType dtype, const Shape& shape) {
  add_row(entry, {.dtype = dtype, .shape = shape, .shape_only = true});
}

void CaptureSession::add_row(TensorEntry& entry, journal::StatisticsRow row) {
  add(entry, 0, [&] { return assembler_.add_statistics(entry, row); });
}

void CaptureSession::save_strings(std::string_view name, std::span<const std::string_view> strings) {
  TensorEntry* entry = entry_of(name);
  if (entry == nullptr) return lose_nameless();
  const FormBits form = entry->form_now();
  if (form == 0) return;
  const Bill::Timer timer(bill_);
  save_whole_strings(*entry, form, Shape({static_cast<std::int64_t>(strings.size())}), strings);
}

// Strings have no statistics: they are kept whole, or only their shape is.
void CaptureSession::save_whole_strings(TensorEntry& entry, FormBits form, const Shape& shape,
                                        std::span<const std::string_view> strings) {
  const std::size_t bytes = packed_string_bytes(strings);
  if ((form & ~kBlackBoxBit) == 0) return;  // which holds no strings
  if (!is_on()) return lose_saved(LossCause::kHookOff, bytes, [&] { return printable(entry.name); });
  if ((form & kValuesBit) == 0) return keep_shape(entry, DType::kString, shape);
  auto slot = claim(entry, bytes);
  if (!slot) return;
  pack_strings(strings, slot->memory());
  StagedTensor tensor;
  tensor.dtype = DType::kString;
  tensor.shape = shape;
  add(entry, 0, [&] { return assembler_.add_tensor(*std::move(slot), entry, std::move(tensor)); });
}

void CaptureSession::save_scalar(std::string_view name, double value) {
  const Bill::Timer timer(bill_);
  TensorEntry* entry = entry_of(name);
  if (entry == nullptr) return lose_nameless();
  if (!is_on()) return lose_saved(LossCause::kHookOff, sizeof value, [&] { return printable(entry->name); });
  if (!entry->membership.load(std::memory_order_acquire)->has_scalars()) add_to(*entry, {&kScalarsCollection, 1});
  if (box_ != nullptr && plan_->fills_black_box()) box_->keep_scalar(*entry, value);
  add(*entry, sizeof value, [&] { return assembler_.add_scalar(*entry, value); });
}

// The black box.

void CaptureSession::remember(std::string_view name, const TensorView& view) {
  if (!remembers()) return;
  const Bill::Timer timer(bill_);
  TensorEntry* const entry = entry_of(name);
  if (entry == nullptr) return lose_nameless();
  if (why_unreadable(view) == nullptr && view.dtype != DType::kString) return box_->remember(*entry, view);
  lose_saved(LossCause::kUnsupported, 0, [&] { return about(*entry, "the black box holds numbers in memory only"); });
}

bool CaptureSession::dump_black_box(const BlackBoxReason& reason) {
  if (box_ == nullptr || !is_on()) return false;
  const Bill::Timer timer(bill_);
  if (dumper_->has_begun_with(reason.failing_step)) return true;
  auto step = std::make_unique<StagedStep>(*staging_);
  step->dump = dumper_->begin(reason);
  return step->dump != nullptr && writer_.submit(step, false);
}

void CaptureSession::save_reductions(TensorId id, std::span<const SavedReduction> reductions) {
  if (TensorEntry* entry = tensors_.find(id)) return keep_reductions(*entry, reductions);
  lose_undeclared(id);
}

void CaptureSession::save_reductions(std::string_view name, std::span<const SavedReduction> reductions) {
  if (TensorEntry* entry = entry_of(name)) return keep_reductions(*entry, reductions);
  lose_nameless();
}

void CaptureSession::keep_reductions(TensorEntry& entry, std::span<const SavedReduction> reductions) {
  if ((entry.form_now() & ~kBlackBoxBit) == 0 || reductions.empty()) return;
  const Bill::Timer timer(bill_);
  const std::size_t bytes = reductions.size() * sizeof(double);
  if (!is_on()) return lose_saved(LossCause::kHookOff, bytes, [&] { return printable(entry.name); });
  add(entry, bytes, [&] { return assembler_.add_reductions(entry, reductions); });
}

// Memory for a tensor's bytes; without it the loss has been counted.
std::optional<StepAssembler::Slot> CaptureSession::claim(const TensorEntry& entry, std::size_t bytes) {
  std::optional<StepAssembler::Slot> slot;
  if (bytes > staging_->capacity_bytes()) {
    lose_saved(LossCause::kTooLarge, bytes, [&] {
      return fmt::format("{} of {} is larger than the whole staging area of {}; raise staging_bytes",
                         printable(entry.name), format_bytes(bytes), format_bytes(staging_->capacity_bytes()));
    });
    return slot;
  }
  const bool taken = take_room([&] {
    auto claimed = assembler_.claim(bytes);
    if (!claimed) return false;
    slot.emplace(*std::move(claimed));
    return true;
  });
  if (!taken) lose_full(entry, bytes);
  return slot;
}

// Steps.

void CaptureSession::set_mode(Mode mode) {
  if (mode == counter_.current().mode || judging_) return;
  if (!assembler_.step_is_empty()) end_step();
  bill_.end_idle_steps(counter_.current());
  counter_.set_mode(mode);
  begin_step();
}

void CaptureSession::begin_step() {
  if (changes_->any_accepted()) take_changes();
  const StepId step = counter_.current();
  if (box_ != nullptr) box_->begin_step(step);
  plan_->begin_step(step.mode, step.mode_step, bill_.restraint(step.mode));
}

// What others have asked for holds from the step on that begins now.
void CaptureSession::take_changes() {
  const Bill::Timer timer(bill_);
  std::vector<AcceptedChange> changes = changes_->take_accepted();
  for (const AcceptedChange& change : changes) plan_->change(*change.plan, change.state.declared_saved);
  update_memberships();
  bill_.start_anew(changes.back().state.options.budget);
  for (AcceptedChange& change : changes) {
    if (change.answered) continue;
    change.answer.global_step = counter_.current().global_step;
    writer_.tell(format::encode_capture_answer(change.answer), plan_->collections());
  }
}

void CaptureSession::update_memberships() {
  tensors_.update_memberships([&](const TensorEntry& entry) -> const Membership& {
    return plan_->membership_after_change(*entry.membership.load(std::memory_order_acquire), entry.name);
  });
}

void CaptureSession::end_group() {
  const Bill::Timer timer(bill_);
  devices_.end_group();
}

Status CaptureSession::install(const MakeJudge& make, std::string worker, int world_size) {
  if (judge_ != nullptr) return Status(Code::kAlreadyExists, "this hook has a judge");
  if (closed_) return Status(Code::kFailedPrecondition, "the hook is closed");
  TRAINWARDEN_ASSIGN_OR_RETURN(auto judge, make({storage_, clock_, std::move(worker), world_size}));
  TRAINWARDEN_RETURN_IF_ERROR(plan_->require(judge->needs(), !judge->may_veto()));
  judge_ = std::move(judge);
  update_memberships();
  begin_step();
  writer_.tell(judge_->announcement(), plan_->collections());
  writer_.set_judge(judge_.get());
  return Status();
}

StepAdvice CaptureSession::judge_step() {
  return ask_judge([&](const OpenStep& step) { return judge_->judge(step); });
}

// What a judge does not get to see when it fails is not vetoed.
template <class Ask>
StepAdvice CaptureSession::ask_judge(Ask ask) {
  if (!is_on() || judging_) return StepAdvice::kProceed;
  const Bill::Timer timer(bill_);
  const Judging judging(judging_);
  settle_open_step();
  StepAdvice advice = StepAdvice::kProceed;
  assembler_.look_into([&](StagedStep& step) { advice = ask(OpenStep(counter_.current(), step, tensors_, *plan_)); });
  if (advice != StepAdvice::kProceed) {  // while the step is as it was judged
    dump_black_box({.kind = "rule", .message = judge_->reason(), .failing_step = counter_.current().global_step});
  }
  if (advice == StepAdvice::kStop) {
    const std::int64_t step = counter_.current().global_step;
    writer_.stop({fmt::format("guard-{}", step), judge_->reason(), "guard", clock_.unix_ns()});
  }
  return advice;
}

// What devices still bring is waited for without a lock, and becomes rows like others.
void CaptureSession::settle_open_step() {
  devices_.end_group();
  bool any = false;
  assembler_.look_into([&](StagedStep& step) {
    any = !step.device_items.empty();
    await_device_items(step.device_items);
  });
  if (any) assembler_.with_open_step([&](StagedStep& step) { settle_device_items(step, ledger_); });
}

// A rule that ends the step which it judges would take it away from the others: it does not.
StepEnd CaptureSession::end_step() {
  const StepId id = counter_.current();
  if (judging_) return {.global_step = id.global_step, .mode = id.mode, .mode_step = id.mode_step};
  end_group();
  if (has_judge()) ask_judge([&](const OpenStep& step) { return judge_->step_ends(step); });
  devices_.free_discarded();
  if (auto step = assembler_.end(id)) submit(std::move(step));
  if (box_ != nullptr) end_box_step();
  ++steps_;
  if (const auto event = bill_.end_step(id, plan_->demand())) writer_.tell(format::encode_budget_event(*event));
  counter_.advance();
  begin_step();

  StepEnd end{.global_step = id.global_step, .mode = id.mode, .mode_step = id.mode_step};
  if (const format::StopRequest* stop = writer_.stop()) {
    end.stop_requested = true;
    end.stop_reason = stop->reason;
  }
  end.checkpoint_requested = checkpoints_->any();  // after the stop: who asked for it first is heard no later
  return end;
}

// What others ask for is seen at the end of each step, idle or not.
bool CaptureSession::end_idle_step() {
  if (judging_ || judge_ != nullptr || changes_->any_accepted() || checkpoints_->any() || writer_.stop() != nullptr) {
    return false;
  }
  if (!assembler_.step_is_empty() || !plan_->pass_idle_step()) return false;
  ++steps_;
  bill_.pass_idle_step();
  counter_.advance();
  return true;
}

// Half of the budget is the black box's, so that it does not cost the run its statistics.
void CaptureSession::end_box_step() {
  {
    const Bill::Timer timer(bill_);
    box_->end_step();
    box_->keep_to(budget_ / 2);
  }
  if (const BoxLabel* const loss = box_->take_broken_loss()) {
    dump_black_box({.kind = "loss",
                    .message = fmt::format("{} is not a finite number", printable(loss->name)),
                    .failing_step = counter_.current().global_step});
  }
}

void CaptureSession::submit(std::unique_ptr<StagedStep> step) {
  const Bill::Timer timer(bill_);
  if (writer_.submit(step, when_full_ == WhenFull::kBlock)) return;
  assembler_.lose(*step);
  ledger_.add(LossCause::kStagingFull, step->item_count(), step->tensor_bytes(),
              [&] { return fmt::format("step {}: too many steps wait for the writer", step->id.global_step); });
  devices_.discard(std::move(step));
}

std::optional<CheckpointRequest> CaptureSession::take_checkpoint_request() {
  CheckpointRequests::Events accepted;
  auto request = checkpoints_->take(counter_.current().global_step - 1, accepted);
  writer_.tell(accepted);
  return request;
}

void CaptureSession::answer_checkpoint(const CheckpointRequest& request, const Result<std::filesystem::path>& saved) {
  const CheckpointRequests::Events answers = checkpoints_->answer(request.key, saved);
  for (const format::CheckpointEvent& answer : answers) {
    if (answer.state == format::CheckpointState::kSaved) {
      log(LogLevel::kInfo, "a checkpoint was saved on request ({}): {}", answer.reason, answer.path);
    } else {
      log(LogLevel::kWarning, "a checkpoint was asked for and could not be saved: {}", answer.error);
    }
  }
  writer_.tell(answers);
}

Result<std::filesystem::path> CaptureSession::write_checkpoint(
    std::string_view ending, const std::function<Status(const std::filesystem::path&)>& write) const {
  const std::int64_t last_step = std::max<std::int64_t>(0, counter_.current().global_step - 1);
  return write_checkpoint_file({checkpoints_->run_dir(), last_step, rank_, ending}, write);
}

void CaptureSession::catch_signals(const std::filesystem::path& run_dir) {
  if (box_ == nullptr) return;
  auto installed = CrashWriter::install(run_dir, dumper_->head(), *box_);
  if (installed.ok()) {
    crash_writer_ = *std::move(installed);
  } else {
    log(LogLevel::kWarning, "the black box is not written when the process dies on a signal: {}",
        installed.status().to_string());
  }
}

Status CaptureSession::close(std::chrono::nanoseconds timeout) {
  if (closed_) return close_status_;
  closed_ = true;
  crash_writer_.reset();
  if (has_judge() && !assembler_.step_is_empty()) {
    ask_judge([&](const OpenStep& step) { return judge_->step_ends(step); });
  }
  switch_off("closed");
  staging_->end_waiting();
  devices_.end_group();
  std::unique_ptr<StagedStep> last_step = assembler_.end(counter_.current());
  if (last_step != nullptr) {
    ++steps_;
    bill_.end_step(counter_.current(), plan_->demand());
    counter_.advance();
  }
  bill_.end_idle_steps(counter_.current());
  if (const auto event = bill_.last_event()) writer_.tell(format::encode_budget_event(*event));
  close_status_ = writer_.finish(std::move(last_step), timeout);
  return close_status_;
}

// Losses.

void CaptureSession::switch_off(std::string reason) {
  std::lock_guard lock(off_mutex_);
  if (!on_.exchange(false)) return;
  off_reason_ = std::move(reason);
}

void CaptureSession::lose(LossCause cause, std::uint64_t count, std::uint64_t bytes, std::string_view message) {
  const auto text = [&] { return std::string(message); };
  ledger_.add(cause, count, bytes, text);
  if (is_on()) assembler_.add_loss(cause, count, bytes, text);
}

void CaptureSession::lose_nameless() {
  lose_saved(LossCause::kUnsupported, 0, [] {
    return fmt::format(
        "a name is longer than {} bytes, or there are more than {} names; give tensors the same names "
        "at every step",
        TensorTable::kMaxNameBytes, TensorTable::kMaxTensors);
  });
}

void CaptureSession::lose_undeclared(TensorId id) {
  lose_saved(LossCause::kUnsupported, 0, [&] { return fmt::format("no tensor was declared as {}", id.value); });
}

void CaptureSession::lose_full(const TensorEntry& entry, std::uint64_t bytes) {
  lose_saved(LossCause::kStagingFull, bytes, [&] {
    return fmt::format(
        "no room for {} of {} in the staging area of {}: the storage is slower than what is saved; "
        "save less often, keep statistics, or raise staging_bytes",
        printable(entry.name), format_bytes(bytes), format_bytes(staging_->capacity_bytes()));
  });
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
  report.training_thread_ns = bill_.hook_ns();
  report.bill = bill_.report(counter_.current().mode);
  report.vetoes = judge_ != nullptr ? judge_->vetoes() : 0;
  if (box_ != nullptr) {
    box_->add_to(report.black_box);
    report.black_box.dumps = dumper_->written();
  }
  report.losses = ledger_.losses();
  std::lock_guard lock(off_mutex_);
  report.on = on_;
  report.off_reason = off_reason_;
  return report;
}

}  // namespace trainwarden::capture
