// StepFileTarget: formats with one file for each step of each worker, OUT/<worker>/<step, 12 digits>.<extension>, in
// which tensors lie by name.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "read/transfer/target_writer.h"

namespace trainwarden::transfer {

struct HeldTensor {
  std::string name;
  SharedTensorValue value;
};

// Holds a step's tensors until its end: their memory where it had to be read, the run's file where it is mapped.
class StepFileTarget : public TargetWriter {
 public:
  StepFileTarget(const TargetPlan& plan, std::string_view extension) : plan_(plan), extension_(extension) {}

  Status begin_step(const WorkerStep& step) override;
  Status write_value(std::string_view tensor, const SharedTensorValue& value) override;
  Status write_scalar(std::string_view tensor, double value) override;
  Status write_statistics(std::string_view tensor, const format::StatisticsRow& row) override;
  Status write_reductions(std::string_view tensor, std::span<const SavedReduction> reductions) override;
  Status write_shape(std::string_view tensor, DType dtype, const Shape& shape) override;
  Status end_step() override;
  Status finish(bool run_ended) override;

 protected:
  virtual Status write_step(const std::filesystem::path& path, const WorkerStep& step,
                            std::span<const HeldTensor> tensors) = 0;
  const TargetPlan& plan() const { return plan_; }

 private:
  void hold(std::string name, SharedTensorValue value);
  void hold_doubles(std::string name, std::vector<double> numbers, const Shape& shape);

  const TargetPlan plan_;
  const std::string_view extension_;
  WorkerStep step_;
  std::vector<HeldTensor> tensors_;
  std::set<std::string, std::less<>> names_;  // of them
};

// What is known of a step, for the metadata of its file.
std::map<std::string, std::string> step_words(const Trial& trial, const WorkerStep& step);

}  // namespace trainwarden::transfer
