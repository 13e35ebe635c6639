// The calls, a file an area. Each gets the request's document, and what it needs of this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/format/json.h"
#include "trainwarden/status.h"
#include "ui/aws/aws_json.h"

namespace trainwarden::aws {

// What `trainwarden WORDS --json` answers, which reads `input`. kNotFound, kAlreadyExists and kInvalidArgument with its
// message when it says no, kInternal when it cannot be run. From several threads at once.
using AskProgram = std::function<Result<format::Json>(const std::vector<std::string>& words, const std::string& input)>;

// What a call does, each of which the server has to be started for.
enum class Right : std::uint8_t {
  kLook,
  kAct,     // stops jobs
  kSubmit,  // makes jobs, and so runs any program
};

struct AwsContext {
  AskProgram ask_program;
  bool may_act = false;
  bool may_submit = false;

  Result<format::Json> ask(const std::vector<std::string>& words, const std::string& input = "") const {
    return ask_program(words, input);
  }
};

using AwsCall = AwsAnswer (*)(const format::Json& request, const AwsContext& context);

struct NamedCall {
  std::string_view name;  // "SageMaker.DescribeTrainingJob", as in X-Amz-Target
  AwsCall call = nullptr;
  Right needs = Right::kLook;
};

std::vector<NamedCall> training_job_calls();
std::vector<NamedCall> processing_job_calls();
std::vector<NamedCall> log_calls();
std::vector<NamedCall> search_calls();

}  // namespace trainwarden::aws
