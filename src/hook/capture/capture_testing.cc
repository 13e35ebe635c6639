#include "hook/capture/capture_testing.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/base/clock.h"
#include "hook/capture/open_hook.h"
#include "store/journal/all_events.h"

namespace trainwarden::capture {
namespace {

void read_record(journal::JournalReader& reader, const journal::Record& record, ReadStep& step) {
  const std::string& name = reader.tensors()[record.tensor].name;
  switch (record.form) {
    case journal::RecordForm::kValue: {
      auto value = reader.read_value(record);
      ASSERT_TRUE(value.ok()) << value.status().to_string();
      step.values[name] = *std::move(value);
      return;
    }
    case journal::RecordForm::kStatistics:
    case journal::RecordForm::kShape: {
      auto row = reader.read_statistics(record);
      ASSERT_TRUE(row.ok()) << row.status().to_string();
      step.statistics[name] = *std::move(row);
      return;
    }
    case journal::RecordForm::kScalar: {
      const auto scalar = reader.read_scalar(record);
      ASSERT_TRUE(scalar.ok()) << scalar.status().to_string();
      step.scalars[name] = *scalar;
      return;
    }
    case journal::RecordForm::kReductions: {
      auto reductions = reader.read_reductions(record);
      ASSERT_TRUE(reductions.ok()) << reductions.status().to_string();
      step.reductions[name] = *std::move(reductions);
      return;
    }
  }
}

}  // namespace

std::shared_ptr<storage::Storage> borrowed(storage::Storage& storage) {
  return {&storage, [](storage::Storage*) {}};
}

std::unique_ptr<Hook> open_hook_on(storage::Storage& storage, HookOptions options) {
  auto hook = HookOpener::open(std::move(options), borrowed(storage), system_clock());
  if (!hook.ok()) {
    ADD_FAILURE() << hook.status().to_string();
    std::abort();
  }
  return *std::move(hook);
}

HookOptions keep_all_of(std::string pattern) {
  HookOptions options;
  options.include = {std::move(pattern)};
  options.save = SavePolicy::every(1);
  options.staging_bytes = std::size_t{1} << 20;
  return options;
}

TensorView view_of(const std::vector<float>& values) {
  return TensorView::of(values.data(), DType::kFloat32, Shape({static_cast<std::int64_t>(values.size())}));
}

std::vector<float> floats_of(const TensorValue& value) {
  std::vector<float> floats(value.data.size() / sizeof(float));
  std::memcpy(floats.data(), value.data.data(), value.data.size());
  return floats;
}

std::uint64_t ReadRun::lost(std::string_view cause) const {
  std::uint64_t count = 0;
  for (const RunLoss& loss : losses) {
    if (loss.by_writer && loss.cause == cause) count += loss.count;
  }
  return count;
}

ReadRun read_run(const storage::Storage& storage, int rank) {
  ReadRun run;
  const auto info = journal::read_run(storage);
  EXPECT_TRUE(info.ok()) << info.status().to_string();
  if (!info.ok()) return run;
  auto reader =
      journal::JournalReader::open(storage, *info, journal::worker_name(rank), journal::JournalReaderOptions());
  EXPECT_TRUE(reader.ok()) << reader.status().to_string();
  if (!reader.ok()) return run;
  const Status refreshed = (*reader)->refresh();
  EXPECT_TRUE(refreshed.ok()) << refreshed.to_string();

  for (std::size_t i = 0; i < (*reader)->steps().size(); ++i) {
    ReadStep& step = run.steps.emplace_back();
    step.entry = (*reader)->steps()[i];
    const auto records = (*reader)->records(i);
    EXPECT_TRUE(records.ok()) << records.status().to_string();
    if (!records.ok()) continue;
    for (const journal::Record& record : *records) read_record(**reader, record, step);
  }
  for (const journal::EventEntry& event : journal::all_events(**reader)) run.events.push_back(event.json);
  for (const journal::JournalTensor& tensor : (*reader)->tensors())
    run.collections_of[tensor.name] = tensor.collections;
  run.losses.assign((*reader)->losses().begin(), (*reader)->losses().end());
  run.collections.assign((*reader)->collections().begin(), (*reader)->collections().end());
  return run;
}

std::uint64_t lost(const HookReport& report, LossCause cause) {
  for (const CaptureLoss& loss : report.losses) {
    if (loss.cause == cause) return loss.count;
  }
  return 0;
}

class FakeJournal::Writer final : public journal::JournalWriter {
 public:
  explicit Writer(FakeJournal& journal) : journal_(journal) {}
  Status append_step(const journal::StepBatch& batch) override {
    const Status status = journal_.append(&batch, {});
    holds_parts_ = false;
    return status;
  }
  Status append_part(const journal::StepBatch& batch) override {
    const Status status = journal_.append(&batch, {}, true);
    holds_parts_ = status.ok();
    return status;
  }
  bool holds_parts() const override { return holds_parts_; }
  Status append_event(format::FrameKind, std::int64_t, std::string_view json) override {
    return journal_.append(nullptr, json);
  }
  Status append_samples(const journal::SampleBatch&) override {
    return Status(Code::kUnimplemented, "no hook samples metrics yet");
  }
  Status append_operators(const OperatorBatch& batch) override { return journal_.append_operators(batch); }
  Status change_collections(std::vector<Collection> collections) override {
    std::lock_guard lock(journal_.mutex_);
    journal_.collections_ = std::move(collections);
    return Status();
  }
  Status sync() override {
    std::lock_guard lock(journal_.mutex_);
    ++journal_.syncs_;
    return journal_.sync_failure_;
  }
  void beat() override {}
  Status seal() override {
    std::lock_guard lock(journal_.mutex_);
    journal_.sealed_ = true;
    return Status();
  }
  std::uint64_t written_bytes() const override { return 0; }

 private:
  FakeJournal& journal_;
  bool holds_parts_ = false;
};

std::unique_ptr<journal::JournalWriter> FakeJournal::create() {
  return std::make_unique<Writer>(*this);
}

Status FakeJournal::append(const journal::StepBatch* batch, std::string_view event, bool is_part) {
  std::unique_lock lock(mutex_);
  waiting_ = held_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return !held_; });
  waiting_ = false;
  ++attempts_;
  if (!failure_.ok()) return failure_;
  if (batch == nullptr) {
    events_.emplace_back(event);
  } else {
    std::vector<journal::StepBatch>& batches = is_part ? parts_ : batches_;
    batches.push_back(*batch);
    for (journal::KeptTensor& tensor : batches.back().tensors) tensor.data = {};
  }
  return Status();
}

Status FakeJournal::append_operators(const OperatorBatch& batch) {
  std::lock_guard lock(mutex_);
  ++attempts_;
  if (failure_.ok()) operators_.push_back(batch);
  return failure_;
}

std::vector<journal::StepBatch> FakeJournal::parts() const {
  std::lock_guard lock(mutex_);
  return parts_;
}

std::vector<OperatorBatch> FakeJournal::operators() const {
  std::lock_guard lock(mutex_);
  return operators_;
}

void FakeJournal::fail_with(Status status) {
  std::lock_guard lock(mutex_);
  failure_ = std::move(status);
}

void FakeJournal::hold() {
  std::lock_guard lock(mutex_);
  held_ = true;
}

void FakeJournal::release() {
  {
    std::lock_guard lock(mutex_);
    held_ = false;
  }
  changed_.notify_all();
}

void FakeJournal::wait_until_held() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_; });
}

std::vector<journal::StepBatch> FakeJournal::batches() const {
  std::lock_guard lock(mutex_);
  return batches_;
}

std::vector<std::string> FakeJournal::events() const {
  std::lock_guard lock(mutex_);
  return events_;
}

std::vector<Collection> FakeJournal::collections() const {
  std::lock_guard lock(mutex_);
  return collections_;
}

void FakeJournal::fail_syncs_with(Status status) {
  std::lock_guard lock(mutex_);
  sync_failure_ = std::move(status);
}

int FakeJournal::syncs() const {
  std::lock_guard lock(mutex_);
  return syncs_;
}

int FakeJournal::attempts() const {
  std::lock_guard lock(mutex_);
  return attempts_;
}

bool FakeJournal::sealed() const {
  std::lock_guard lock(mutex_);
  return sealed_;
}

}  // namespace trainwarden::capture
