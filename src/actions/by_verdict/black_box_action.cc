#include "actions/by_verdict/black_box_action.h"

#include <fmt/format.h>

#include "format/control_record.h"

namespace trainwarden::actions::by_verdict {

bool BlackBoxAction::is_of_use(const storage::Storage& run_storage) {
  return run_storage.exists(format::kBlackBoxFolder);
}

Status BlackBoxAction::run(const ActionContext& context) {
  const FiredVerdict& fired = context.fired;
  const std::string request = format::encode_black_box_request(
      {.key = context.key,
       .reason = fmt::format("{} fired at {}: {}", fired.rule_id, fired.step_text, fired.verdict.message),
       .rule = fired.rule_id,
       .global_step = fired.global_step,
       .requested_by = context.requested_by,
       .unix_ns = clock_.unix_ns()});
  TRAINWARDEN_RETURN_IF_ERROR(run_storage_.create_folder(format::kControlFolder));
  const Status put = run_storage_.put_if_absent(format::black_box_request_path(context.key), as_bytes(request));
  return put.code() == Code::kAlreadyExists ? Status() : put;
}

}  // namespace trainwarden::actions::by_verdict
