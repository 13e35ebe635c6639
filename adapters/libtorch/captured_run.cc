// For tests: runs captured and read back.
#include "captured_run.h"

#include <torch/torch.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <utility>

namespace trainwarden::torch {
namespace {

std::filesystem::path fresh_folder() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = std::string(test->test_suite_name()) + "." + test->name() + "." + std::to_string(::getpid());
  const auto folder = std::filesystem::path(::testing::TempDir()) / ("trainwarden-" + name);
  std::filesystem::remove_all(folder);
  return folder;
}

template <class T>
T required(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().to_string());
  return std::move(result).value();
}

at::ScalarType scalar_type_of(DType dtype) {
  switch (dtype) {
    case DType::kBool: return at::kBool;
    case DType::kInt64: return at::kLong;
    case DType::kBFloat16: return at::kBFloat16;
    case DType::kFloat32: return at::kFloat;
    case DType::kFloat64: return at::kDouble;
    case DType::kComplex64: return at::kComplexFloat;
    default: throw std::runtime_error("no test needs " + std::string(name(dtype)));
  }
}

}  // namespace

CapturedRun::CapturedRun(HookOptions options) : folder_(fresh_folder()) {
  options.run_dir = folder_ / "run";
  hook_ = required(Hook::open(std::move(options)));
}

CapturedRun::~CapturedRun() {
  trial_.reset();
  hook_.reset();
  std::filesystem::remove_all(folder_);
}

HookOptions CapturedRun::everything() {
  HookOptions options;
  options.save_all = true;
  options.save = SavePolicy::every(1);
  options.when_full = WhenFull::kBlock;
  return options;
}

Trial& CapturedRun::trial() {
  if (!trial_) {
    const Status closed = hook_->close();
    if (!closed.ok()) throw std::runtime_error(closed.to_string());
    trial_ = required(Trial::open(hook_->options().run_dir));
  }
  return *trial_;
}

std::vector<std::string> CapturedRun::names(const TensorQuery& query) {
  return required(trial().tensor_names(query));
}

std::vector<std::int64_t> CapturedRun::steps_of(const std::string& name) {
  return trial().steps_of(name, Mode::kGlobal, Kept::kAny);
}

at::Tensor CapturedRun::value(const std::string& name, std::int64_t step) {
  return as_tensor(required(trial().value(name, step)));
}

bool CapturedRun::has(const std::string& name) {
  return trial().has_tensor(name);
}

std::vector<std::int64_t> CapturedRun::operator_steps() {
  return trial().operator_steps("rank-00000");
}

OperatorBatch CapturedRun::operators(std::int64_t step) {
  return required(trial().operators("rank-00000", step));
}

std::uint64_t CapturedRun::count_lost(LossCause cause) {
  trial();
  for (const CaptureLoss& loss : hook_->report().losses) {
    if (loss.cause == cause) return loss.count;
  }
  return 0;
}

at::Tensor as_tensor(const TensorValue& value) {
  const auto sizes = value.shape.sizes();
  at::Tensor tensor =
      ::torch::empty(std::vector<std::int64_t>(sizes.begin(), sizes.end()), scalar_type_of(value.dtype));
  if (tensor.nbytes() != value.data.size()) throw std::runtime_error("the value has the wrong number of bytes");
  if (tensor.nbytes() > 0) std::memcpy(tensor.data_ptr(), value.data.data(), value.data.size());
  return tensor;
}

::testing::AssertionResult are_equal(const at::Tensor& actual, const at::Tensor& expected) {
  if (actual.scalar_type() == expected.scalar_type() && actual.sizes() == expected.sizes() &&
      actual.equal(expected.detach())) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "actual:\n" << actual << "\nexpected:\n" << expected;
}

}  // namespace trainwarden::torch
