#include "ui/aws/aws_api.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/log.h"
#include "core/base/text.h"

namespace trainwarden::aws {
namespace {

AwsAnswer unknown_call(std::string_view target, const std::vector<NamedCall>& calls) {
  std::vector<std::string_view> names;
  for (const NamedCall& known : calls) names.push_back(known.name.substr(known.name.find('.') + 1));
  return aws_error("UnknownOperationException", fmt::format("{} is none of the calls that are answered here: {}",
                                                            printable(target.substr(0, 200)), fmt::join(names, ", ")));
}

}  // namespace

AwsApi::AwsApi(AwsContext context) : context_(std::move(context)) {
  for (const auto& area : {training_job_calls(), processing_job_calls(), log_calls(), search_calls()}) {
    calls_.insert(calls_.end(), area.begin(), area.end());
  }
}

AwsAnswer AwsApi::answer(std::string_view target, std::string_view body) const {
  const auto found =
      std::find_if(calls_.begin(), calls_.end(), [&](const NamedCall& known) { return known.name == target; });
  if (found == calls_.end()) return unknown_call(target, calls_);
  if (found->needs == Right::kAct && !context_.may_act) {
    return aws_error(kAccessDenied,
                     "this server only shows; `trainwarden serve --aws-api --allow-actions` may also act");
  }
  if (found->needs == Right::kSubmit && !context_.may_submit) {
    return aws_error(kAccessDenied,
                     "this server starts no jobs, `trainwarden serve --aws-api --allow-submit` does; it then runs any "
                     "program that whoever has the key asks for");
  }
  const auto request = format::parse_json_object(body.empty() ? "{}" : body, "the request");
  if (!request.ok()) return aws_error("SerializationException", request.status().message());
  try {
    return found->call(*request, context_);
  } catch (const std::exception& error) {
    log(LogLevel::kError, "{} could not be answered: {}", found->name, error.what());
    return aws_error(kInternal, "the answer could not be made; the server's log says more");
  }
}

}  // namespace trainwarden::aws
