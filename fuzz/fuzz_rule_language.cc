// Any text as a rule in the rule language: it is refused with its place, or judges a few steps without a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "judge/rules/language/expression_rule.h"
#include "trainwarden/rule.h"

namespace {

using namespace trainwarden;

// A step of three tensors on two workers, with a NaN and an infinity among their numbers. Every selection selects all.
class FuzzWindow final : public StepWindow {
 public:
  explicit FuzzWindow(std::int64_t step) : step_(step) {
    for (const char* tensor : {"gradient/a", "a", "loss"}) {
      for (const char* worker : {"rank-00000", "rank-00001"}) spots_.push_back({tensor, worker, worker});
    }
    statistics_.count = 4;
    statistics_.nan_count = 1;
    statistics_.min = statistics_.max = statistics_.abs_min = statistics_.abs_max = 2;
  }
  std::int64_t global_step() const override { return step_; }
  Mode mode() const override { return step_ % 2 == 0 ? Mode::kTrain : Mode::kEval; }
  std::int64_t mode_step() const override { return step_ / 2; }
  std::vector<std::string> workers() const override { return {"rank-00000", "rank-00001"}; }
  std::int64_t ended_unix_ns(std::string_view) const override { return 0; }
  Result<std::span<const TensorSpot>> select(const TensorSelection&) const override {
    return std::span<const TensorSpot>(spots_);
  }
  Result<const Statistics*> statistics(const TensorSpot&) const override { return &statistics_; }
  Result<double> reduction(const TensorSpot& spot, Reduction, bool) const override {
    if (spot.tensor == "a" && step_ == 3) return Status(Code::kOutOfRange, "not kept");
    return step_ == 2 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(step_);
  }
  Result<std::vector<SavedReduction>> saved_reductions(const TensorSpot&) const override {
    return std::vector<SavedReduction>();
  }
  Result<SharedTensorValue> value(const TensorSpot&) const override { return Status(Code::kOutOfRange, "not kept"); }
  Result<double> scalar(const TensorSpot&) const override {
    return step_ == 4 ? std::numeric_limits<double>::infinity() : 1.5;
  }
  Result<Shape> shape(const TensorSpot&) const override { return Shape(); }
  Result<DType> dtype(const TensorSpot&) const override { return DType::kFloat32; }

 private:
  std::int64_t step_;
  std::vector<TensorSpot> spots_;
  Statistics statistics_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const auto rule = rules::language::create_expression_rule({reinterpret_cast<const char*>(data), bytes});
  if (!rule.ok()) {
    if (rule.status().code() != Code::kInvalidArgument || rule.status().message().empty()) std::abort();
    return 0;
  }
  (void)(*rule)->needs();
  for (std::int64_t step = 0; step < 6; ++step) {
    const Verdict verdict = (*rule)->evaluate(FuzzWindow(step));
    if (verdict.outcome == Outcome::kError) std::abort();  // so small a run is within every bound
    if (verdict.outcome == Outcome::kFired && verdict.evidence.empty()) std::abort();
  }
  return 0;
}
