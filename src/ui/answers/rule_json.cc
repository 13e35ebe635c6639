#include "ui/answers/rule_json.h"

#include "judge/rules/verdict_json.h"
#include "ui/answers/replies.h"

namespace trainwarden::answers {
namespace {

using format::OrderedJson;

constexpr std::size_t kMostVerdicts = 500;  // of a rule, the first and the newest

// As in the journal (docs/reference/rules.md), but that tensors have the names that all other answers give them, and
// their ids.
OrderedJson shown_verdict(const rules::VerdictRecord& record) {
  OrderedJson json = rules::verdict_json(record);
  json.erase("type");
  for (std::size_t i = 0; i < record.verdict.evidence.size(); ++i) {
    const std::string& tensor = record.verdict.evidence[i].tensor;
    json["evidence"][i]["tensor"] = tensor;
    json["evidence"][i]["tensor_id"] = views::tensor_id_of(tensor);
  }
  return json;
}

OrderedJson outcomes_json(const rules::OutcomeCounts& outcomes) {
  OrderedJson json = OrderedJson::object();
  for (std::size_t i = 0; i < outcomes.size(); ++i) json[std::string(name(static_cast<Outcome>(i)))] = outcomes[i];
  return json;
}

OrderedJson verdicts_json(const std::vector<rules::VerdictRecord>& verdicts) {
  OrderedJson list = OrderedJson::array();
  const std::size_t left_out = verdicts.size() > kMostVerdicts ? verdicts.size() - kMostVerdicts : 0;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (i == 0 || i > left_out) list.push_back(shown_verdict(verdicts[i]));
  }
  return list;
}

OrderedJson repeats_json(const std::vector<rules::RepeatsRecord>& repeats) {
  OrderedJson list = OrderedJson::array();
  for (const rules::RepeatsRecord& record : repeats) {
    list.push_back({{"outcome", name(record.outcome)},
                    {"first_step", record.first_step},
                    {"last_step", record.last_step},
                    {"count", record.count}});
  }
  return list;
}

OrderedJson transitions_json(const std::vector<rules::RuleStatusRecord>& transitions) {
  OrderedJson list = OrderedJson::array();
  for (const rules::RuleStatusRecord& record : transitions) {
    list.push_back({{"state", name(record.status)}, {"unix_ns", record.unix_ns}, {"details", record.details}});
  }
  return list;
}

OrderedJson judged_json(const views::JudgedAgain& judged) {
  return {{"parameters", OrderedJson(judged.parameters)},
          {"state", name(judged.status.status)},
          {"details", judged.status.details},
          {"steps", outcomes_json(judged.status.outcomes)},
          {"fired", judged.fired},
          {"fired_steps", judged.fired_steps},
          {"noted", judged.noted},
          {"noted_steps", judged.noted_steps},
          {"first", judged.first ? shown_verdict(*judged.first) : OrderedJson(nullptr)}};
}

const char* name_of(views::WhatIf::Cut cut) {
  switch (cut) {
    case views::WhatIf::Cut::kNone: return "no";
    case views::WhatIf::Cut::kSteps: return "steps";
    case views::WhatIf::Cut::kTime: return "time";
  }
  return "no";
}

}  // namespace

OrderedJson json_of(const RuleDescription& description) {
  OrderedJson parameters = OrderedJson::array();
  for (const RuleParameter& parameter : description.parameters) {
    parameters.push_back(
        {{"name", parameter.name}, {"default", parameter.default_value}, {"description", parameter.description}});
  }
  return {{"rule", description.name},       {"summary", description.summary}, {"topic", description.topic},
          {"details", description.details}, {"source", description.source},   {"parameters", std::move(parameters)}};
}

OrderedJson json_of(const views::RuleOnBoard& rule) {
  const rules::RuleHistory& history = rule.summary.history;
  OrderedJson json = {{"id", history.status.rule_id},
                      {"rule", history.status.rule},
                      {"parameters", OrderedJson(history.status.parameters)},
                      {"state", name(history.status.status)},
                      {"details", history.status.details},
                      {"severity", rule.gravest ? OrderedJson(name(*rule.gravest)) : OrderedJson(nullptr)},
                      {"fired", rule.times_fired},
                      {"first_fired_step", rule.first_fired_step},
                      {"last_fired_step", rule.last_fired_step},
                      {"steps", outcomes_json(history.status.outcomes)},
                      {"modified_unix_ns", rule.summary.last_modified_unix_ns},
                      {"journal", history.journal},
                      {"builtin", rule.kind != nullptr}};
  json["transitions"] = transitions_json(history.transitions);
  json["verdict_count"] = history.verdicts.size();
  json["verdicts"] = verdicts_json(history.verdicts);
  json["repeats"] = repeats_json(history.repeats);
  return json;
}

OrderedJson json_of(const views::WhatIf& what_if) {
  return {{"rule", what_if.now.status.rule},      {"steps", what_if.steps},
          {"judged_steps", what_if.judged_steps}, {"first_step", what_if.first_step},
          {"last_step", what_if.last_step},       {"cut", name_of(what_if.cut)},
          {"now", judged_json(what_if.now)},      {"changed", judged_json(what_if.changed)}};
}

OrderedJson json_of(const views::BlackBoxDump& box, const std::string& run_name) {
  const std::string inside = views::black_box_run_name(run_name, box.path);
  OrderedJson json = {{"path", box.path}, {"run", {{"id", views::run_id_of(inside)}, {"name", inside}}}};
  json.update(box.replay);
  return json;
}

}  // namespace trainwarden::answers
