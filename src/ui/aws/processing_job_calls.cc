// CreateProcessingJob, DescribeProcessingJob, StopProcessingJob: steps that prepare or judge data, which are jobs too.
#include <array>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/aws/aws_calls.h"

namespace trainwarden::aws {
namespace {

using format::Json;
using format::OrderedJson;

// A field of a job's description, and what a processing job's calls it.
struct StepField {
  const char* name;
  const char* of_step;
};
constexpr std::array<StepField, 16> kStepFields = {{{"TrainingJobName", "ProcessingJobName"},
                                                    {"TrainingJobStatus", "ProcessingJobStatus"},
                                                    {"TrainingStartTime", "ProcessingStartTime"},
                                                    {"TrainingEndTime", "ProcessingEndTime"},
                                                    {"FailureReason", "FailureReason"},
                                                    {"RoleArn", "RoleArn"},
                                                    {"CreationTime", "CreationTime"},
                                                    {"LastModifiedTime", "LastModifiedTime"},
                                                    {"StoppingCondition", "StoppingCondition"},
                                                    {"Environment", "Environment"},
                                                    {"ExperimentConfig", "ExperimentConfig"},
                                                    {"ProcessingInputs", "ProcessingInputs"},
                                                    {"ProcessingOutputConfig", "ProcessingOutputConfig"},
                                                    {"AppSpecification", "AppSpecification"},
                                                    {"ProcessingResources", "ProcessingResources"},
                                                    {"NetworkConfig", "NetworkConfig"}}};

std::string step_arn(const std::string& job) {
  return "arn:aws:sagemaker:local:000000000000:processing-job/" + lower(job);
}

Result<std::string> step_name_of(const Json& request) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::string name, text_or(request, "ProcessingJobName", ""));
  if (name.empty()) return Status(Code::kInvalidArgument, "ProcessingJobName: expected the name of a job, found none");
  return name;
}

AwsAnswer create_step(const Json& request, const AwsContext& context) {
  if (const auto name = step_name_of(request); !name.ok()) return aws_error(name.status());
  const auto submitted = context.ask({"submit", "--format", "sagemaker", "-"}, request.dump());
  if (!submitted.ok()) return aws_error(submitted.status());
  return {200, {{"ProcessingJobArn", step_arn(submitted->at("job").get<std::string>())}}};
}

AwsAnswer describe_step(const Json& request, const AwsContext& context) {
  const auto name = step_name_of(request);
  if (!name.ok()) return aws_error(name.status());
  const auto found = context.ask({"job", "describe", "--format", "sagemaker", "--", *name});
  if (!found.ok()) return aws_error(found.status());
  if (!found->contains("AppSpecification")) {
    return aws_error(kNotFound,
                     fmt::format("there is no processing job \"{}\": it is a training job", printable(*name)));
  }
  AwsAnswer answer{200, {{"ProcessingJobArn", step_arn(*name)}}};
  for (const StepField& field : kStepFields) {
    if (found->contains(field.name)) answer.body[field.of_step] = found->at(field.name);
  }
  write_times_as_seconds(answer.body);
  return answer;
}

AwsAnswer stop_step(const Json& request, const AwsContext& context) {
  const auto name = step_name_of(request);
  if (!name.ok()) return aws_error(name.status());
  const auto stopped = context.ask({"job", "stop", "--", *name});
  return stopped.ok() ? AwsAnswer() : aws_error(stopped.status());
}

}  // namespace

std::vector<NamedCall> processing_job_calls() {
  return {{"SageMaker.CreateProcessingJob", create_step, Right::kSubmit},
          {"SageMaker.DescribeProcessingJob", describe_step},
          {"SageMaker.StopProcessingJob", stop_step, Right::kAct}};
}

}  // namespace trainwarden::aws
