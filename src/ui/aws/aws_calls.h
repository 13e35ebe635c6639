// The calls, a file an area. Each gets the request's document, and what it needs of this machine.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/format/json.h"
#include "trainwarden/status.h"
#include "ui/aws/aws_json.h"

namespace trainwarden::aws {

// What `trainwarden WORDS --json` answers. kNotFound, kAlreadyExists and kInvalidArgument with its message when it says
// no, kInternal when it cannot be run. From several threads at once.
using AskProgram = std::function<Result<format::Json>(const std::vector<std::string>& words)>;

struct AwsContext {
  AskProgram ask;
  bool may_act = false;  // start and stop jobs
};

using AwsCall = AwsAnswer (*)(const format::Json& request, const AwsContext& context);

struct NamedCall {
  std::string_view name;  // "SageMaker.DescribeTrainingJob", as in X-Amz-Target
  AwsCall call = nullptr;
  bool acts = false;
};

std::vector<NamedCall> training_job_calls();
std::vector<NamedCall> log_calls();
std::vector<NamedCall> search_calls();

}  // namespace trainwarden::aws
