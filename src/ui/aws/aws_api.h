// AwsApi: answers the calls of SageMaker and CloudWatch Logs that are about training jobs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/aws/aws_calls.h"

namespace trainwarden::aws {

// May be asked by several threads at once. Does not throw.
class AwsApi {
 public:
  explicit AwsApi(AwsContext context);
  // `target` is the header X-Amz-Target, `body` a JSON document.
  AwsAnswer answer(std::string_view target, std::string_view body) const;

 private:
  AwsContext context_;
  std::vector<NamedCall> calls_;
};

}  // namespace trainwarden::aws
