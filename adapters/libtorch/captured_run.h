// For tests: a hook on a run folder of its own, and what it captured, read back.
#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "trainwarden/hook.h"
#include "trainwarden/trial.h"

namespace trainwarden::torch {

class CapturedRun {
 public:
  // Everything whole at every step, unless `options` say otherwise. The folder is named after the running test.
  explicit CapturedRun(HookOptions options = everything());
  ~CapturedRun();

  static HookOptions everything();

  Hook& hook() { return *hook_; }

  // From the first of these on the hook is closed.
  std::vector<std::string> names(const TensorQuery& query = {});  // sorted
  std::vector<std::int64_t> steps_of(const std::string& name);
  at::Tensor value(const std::string& name, std::int64_t step = 0);
  bool has(const std::string& name);
  std::vector<std::int64_t> operator_steps();
  OperatorBatch operators(std::int64_t step);
  std::uint64_t count_lost(LossCause cause);

 private:
  Trial& trial();

  const std::filesystem::path folder_;
  std::unique_ptr<Hook> hook_;
  std::unique_ptr<Trial> trial_;
};

// A copy of the value with an equal dtype.
at::Tensor as_tensor(const TensorValue& value);

// Same dtype, shape and elements.
::testing::AssertionResult are_equal(const at::Tensor& actual, const at::Tensor& expected);

}  // namespace trainwarden::torch
