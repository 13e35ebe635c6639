#include "hook/guard/veto_record.h"

#include "data/format/json.h"

namespace trainwarden::guard {

std::string encode_veto(const rules::VerdictRecord& verdict, StepAdvice advice) {
  return format::dump_json(
      {{"type", "veto"}, {"action", name(advice)}, {"rule_id", verdict.rule_id}, {"step", verdict.place.global_step}});
}

}  // namespace trainwarden::guard
