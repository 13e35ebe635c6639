#include "ui/cli/commands/dry_run.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

// What a rule needs of one collection, and what the run has of it.
struct NeedView {
  Collection need;
  std::vector<std::string> tensors;  // all that are selected
  std::vector<std::string> usable;   // those that were kept in a form that has what is needed
  std::vector<std::int64_t> steps;   // global, at which any usable one is there; rising
};

struct RuleView {
  const rules::EngineRule* rule = nullptr;
  std::vector<NeedView> needs;
};

std::vector<std::string> forms_of(const KeepForm& keep) {
  std::vector<std::string> forms;
  if (keep.values) forms.emplace_back("values");
  if (keep.statistics) forms.emplace_back("statistics");
  if (keep.histogram) forms.emplace_back("histogram");
  if (keep.hash) forms.emplace_back("hash");
  if (keep.shape) forms.emplace_back("shape");
  return forms;
}

// "statistics every step", "values every 100 steps", "statistics of train steps, every 10"
std::string describe_need(const Collection& need) {
  std::string text = need.keep ? fmt::format("{}", fmt::join(forms_of(*need.keep), ", ")) : "as captured";
  if (!need.save) return text;
  std::vector<std::string> modes;
  std::int64_t interval = 1;
  for (const Mode mode : kAllModes) {
    const auto& schedule = (*need.save)[mode];
    if (!schedule || schedule->end_step == std::optional<std::int64_t>(0)) continue;
    modes.emplace_back(name(mode));
    interval = schedule->save_interval;
  }
  text += interval == 1 ? " at every step" : fmt::format(" every {} steps", interval);
  if (modes.size() < kAllModes.size()) text += fmt::format(" of {}", fmt::join(modes, ", "));
  return text;
}

bool is_usable(const TensorInfo& info, const KeepForm& keep) {
  const bool whole = info.values > 0 || info.scalars > 0;
  if (keep.values && whole) return true;
  if (keep.any_statistics() && (whole || info.statistics > 0 || info.reductions > 0)) return true;
  return keep.shape && info.has_shape;
}

// Statistics at a step are of no use to a rule that needs the elements.
Kept forms_for(const Collection& need) {
  const KeepForm keep = need.keep.value_or(KeepForm());
  const bool elements_alone = keep.values && !keep.any_statistics() && !keep.shape;
  return elements_alone ? Kept::kValue | Kept::kScalar : Kept::kAny;
}

// An unknown collection has no tensors.
Status add_names(const Trial& trial, const TensorQuery& query, std::vector<std::string>& names) {
  auto found = trial.tensor_names(query);
  if (!found.ok()) return found.status().code() == Code::kNotFound ? Status() : found.status();
  std::vector<std::string> all;
  std::set_union(names.begin(), names.end(), found->begin(), found->end(), std::back_inserter(all));
  names = std::move(all);
  return {};
}

Result<NeedView> view_of(const Collection& need, const Trial* trial) {
  NeedView view{need, {}, {}, {}};
  if (trial == nullptr) return view;
  if (need.include.empty()) TRAINWARDEN_RETURN_IF_ERROR(add_names(*trial, {.collection = need.name}, view.tensors));
  if (need.name == "all") TRAINWARDEN_RETURN_IF_ERROR(add_names(*trial, {}, view.tensors));
  if (!need.include.empty()) TRAINWARDEN_RETURN_IF_ERROR(add_names(*trial, {.include = need.include}, view.tensors));
  for (const std::string& tensor : view.tensors) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const TensorInfo info, trial->tensor_info(tensor));
    if (!is_usable(info, need.keep.value_or(KeepForm()))) continue;
    view.usable.push_back(tensor);
    const std::vector<std::int64_t> steps = trial->steps_of(tensor, Mode::kGlobal, forms_for(need));
    std::vector<std::int64_t> all;
    std::set_union(view.steps.begin(), view.steps.end(), steps.begin(), steps.end(), std::back_inserter(all));
    view.steps = std::move(all);
  }
  return view;
}

Result<std::vector<RuleView>> views_of(const Trial* trial, const std::vector<rules::EngineRule>& rules) {
  std::vector<RuleView> views;
  for (const rules::EngineRule& rule : rules) {
    views.push_back({&rule, {}});
    for (const Collection& need : rule.rule->needs()) {
      TRAINWARDEN_ASSIGN_OR_RETURN(NeedView view, view_of(need, trial));
      views.back().needs.push_back(std::move(view));
    }
  }
  return views;
}

// The first step at which there is anything of what it needs.
std::optional<std::int64_t> first_step(const RuleView& view) {
  std::optional<std::int64_t> first;
  for (const NeedView& need : view.needs) {
    if (!need.steps.empty()) first = std::min(first.value_or(need.steps.front()), need.steps.front());
  }
  return first;
}

// What is wrong with what the run has, or "".
std::string missing_text(const NeedView& view) {
  if (view.tensors.empty()) return "nothing of it was captured";
  if (!view.usable.empty()) return "";
  return fmt::format("{} tensors, none of them kept as {}", view.tensors.size(),
                     fmt::join(forms_of(view.need.keep.value_or(KeepForm())), " or "));
}

std::string found_text(const NeedView& view) {
  const std::string missing = missing_text(view);
  if (!missing.empty()) return "MISSING: " + missing;
  return fmt::format("{} tensors ({}, ...) at steps {}", view.usable.size(), printable(view.usable.front()),
                     format_steps(view.steps));
}

OrderedJson json_of(const NeedView& view, bool with_run) {
  OrderedJson json = {
      {"collection", printable(view.need.name)}, {"include", view.need.include}, {"needs", describe_need(view.need)}};
  if (!with_run) return json;
  OrderedJson tensors = OrderedJson::array();
  for (const std::string& tensor : view.usable) tensors.push_back(printable(tensor));
  json.update({{"tensors", std::move(tensors)}, {"steps", view.steps.size()}});
  if (!view.steps.empty()) json.update({{"first_step", view.steps.front()}, {"last_step", view.steps.back()}});
  if (const std::string missing = missing_text(view); !missing.empty()) json["missing"] = missing;
  return json;
}

void print_as_json(const std::vector<RuleView>& views, bool with_run) {
  OrderedJson list = OrderedJson::array();
  for (const RuleView& view : views) {
    OrderedJson needs = OrderedJson::array();
    for (const NeedView& need : view.needs) needs.push_back(json_of(need, with_run));
    OrderedJson rule = {{"rule", view.rule->spec.name},
                        {"parameters", OrderedJson(view.rule->spec.parameters)},
                        {"needs", std::move(needs)}};
    if (const auto first = first_step(view)) rule["first_step"] = *first;
    list.push_back(std::move(rule));
  }
  print_json({{"dry_run", true}, {"rules", std::move(list)}});
}

void print_for_people(const std::vector<RuleView>& views, bool with_run) {
  for (const RuleView& view : views) {
    emit("{}\n", view.rule->spec.name);
    for (const auto& [name, value] : view.rule->spec.parameters) {
      emit("  {} = {}\n", name, value);
    }
    if (view.needs.empty()) emit("  says nothing of what it needs: it looks at what was captured\n");
    for (const NeedView& need : view.needs) {
      emit("  needs {}: {}\n", need.need.name, describe_need(need.need));
      if (with_run) emit("    {}\n", found_text(need));
    }
    const auto first = first_step(view);
    if (with_run && !view.needs.empty()) {
      emit("  {}\n", first ? fmt::format("would first be evaluated with something to judge at step {}", *first)
                           : "would find nothing to judge in this run");
    }
  }
  emit("Nothing was judged.\n");
}

}  // namespace

int print_dry_run(const Trial* trial, const std::vector<rules::EngineRule>& rules, bool json) {
  const auto views = views_of(trial, rules);
  if (!views.ok()) return report_error(views.status());
  if (json) {
    print_as_json(*views, trial != nullptr);
  } else {
    print_for_people(*views, trial != nullptr);
  }
  return kExitFine;
}

}  // namespace trainwarden::cli
