#include "judge/rules/hosting/shared_object.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "judge/rules/language/selector.h"
#include "trainwarden/rule_abi.h"
#include "trainwarden/tensor_value.h"

namespace trainwarden::rules {
namespace {

constexpr const char* kEntry = "trainwarden_rules_v1";
constexpr std::size_t kErrorBytes = 1024;

Status refused(std::string message) {
  return Status(Code::kInvalidArgument, std::move(message));
}

std::string text_of(const char* text) {
  return text == nullptr ? "" : text;
}

}  // namespace
}  // namespace trainwarden::rules

// What the rule has in its hands while it judges a step. Nothing that it lends ends before the step does.
struct trainwarden_step {
  const trainwarden::StepWindow& window;
  trainwarden::Verdict verdict;
  std::string error;
  std::map<std::string, std::vector<trainwarden_tensor_v1>> selected;
  std::vector<trainwarden::TensorSpot> spots;  // at a tensor's handle
  std::deque<std::string> texts;
  std::deque<std::vector<double>> values;
  std::deque<std::vector<std::int64_t>> shapes;

  int fail(const trainwarden::Status& status) {
    error = status.message();
    const bool missing =
        status.code() == trainwarden::Code::kOutOfRange || status.code() == trainwarden::Code::kNotFound;
    return missing ? TRAINWARDEN_CALL_MISSING : TRAINWARDEN_CALL_FAILED;
  }
};

namespace trainwarden::rules {
namespace {

using Step = trainwarden_step;
using Tensor = trainwarden_tensor_v1;

std::int64_t global_step(const Step* step) {
  return step->window.global_step();
}
int mode(const Step* step) {
  return static_cast<int>(step->window.mode());
}
std::int64_t mode_step(const Step* step) {
  return step->window.mode_step();
}

Result<language::Selector> parse_selector(const char* text) {
  const std::string written(trim(text_of(text)));
  const auto end = language::Selector::end_of(written);
  if (written.empty() || end != written.size()) {
    return refused(
        fmt::format("\"{}\" is no selector; one is written gradient/*, @weights or /conv/", printable(written)));
  }
  return language::Selector::parse(written);
}

Status add_selected(Step& step, const char* selector, std::vector<Tensor>& tensors) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const language::Selector parsed, parse_selector(selector));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto spots, step.window.select(parsed.selection()));
  for (const TensorSpot& spot : spots) {
    if (!parsed.match(spot.tensor)) continue;
    const char* name = step.texts.emplace_back(spot.tensor).c_str();
    const char* worker = step.texts.emplace_back(spot.worker).c_str();
    tensors.push_back({name, worker, step.spots.size()});
    step.spots.push_back(spot);
  }
  return {};
}

int select(Step* step, const char* selector, const Tensor** tensors, std::size_t* count) {
  const auto [place, is_new] = step->selected.try_emplace(text_of(selector));
  if (is_new) {
    const Status status = add_selected(*step, selector, place->second);
    if (!status.ok()) {
      step->selected.erase(place);
      return step->fail(status);
    }
  }
  *tensors = place->second.data();
  *count = place->second.size();
  return TRAINWARDEN_CALL_OK;
}

// Null with the error set when it is none of ours.
const TensorSpot* spot_of(Step& step, const Tensor* tensor) {
  if (tensor != nullptr && tensor->handle < step.spots.size()) return &step.spots[tensor->handle];
  step.error = "this is no tensor that select() gave at this step";
  return nullptr;
}

int statistics(Step* step, const Tensor* tensor, trainwarden_statistics_v1* result) {
  const TensorSpot* const spot = spot_of(*step, tensor);
  if (spot == nullptr) return TRAINWARDEN_CALL_FAILED;
  const auto read = step->window.statistics(*spot);
  if (!read.ok()) return step->fail(read.status());
  const Statistics& s = **read;
  *result = {s.count,
             s.nan_count,
             s.positive_inf_count,
             s.negative_inf_count,
             s.zero_count,
             s.min,
             s.max,
             s.abs_min,
             s.abs_max,
             s.sum.to_double(),
             s.mean(),
             s.variance(),
             s.deviation(),
             s.l1(),
             s.l2(),
             s.abs_mean(),
             s.abs_variance(),
             s.abs_deviation()};
  return TRAINWARDEN_CALL_OK;
}

int reduction(Step* step, const Tensor* tensor, const char* name, int abs, double* result) {
  const TensorSpot* const spot = spot_of(*step, tensor);
  if (spot == nullptr) return TRAINWARDEN_CALL_FAILED;
  const auto known = parse_reduction(text_of(name));
  if (!known) return step->fail(refused(fmt::format("there is no reduction \"{}\"", printable(text_of(name)))));
  const auto number = step->window.reduction(*spot, *known, abs != 0);
  if (!number.ok()) return step->fail(number.status());
  *result = *number;
  return TRAINWARDEN_CALL_OK;
}

int scalar(Step* step, const Tensor* tensor, double* result) {
  const TensorSpot* const spot = spot_of(*step, tensor);
  if (spot == nullptr) return TRAINWARDEN_CALL_FAILED;
  const auto number = step->window.scalar(*spot);
  if (!number.ok()) return step->fail(number.status());
  *result = *number;
  return TRAINWARDEN_CALL_OK;
}

int values(Step* step, const Tensor* tensor, const double** numbers, std::size_t* count,
           const std::int64_t** dimensions, std::size_t* rank) {
  const TensorSpot* const spot = spot_of(*step, tensor);
  if (spot == nullptr) return TRAINWARDEN_CALL_FAILED;
  const auto value = step->window.value(*spot);
  if (!value.ok()) return step->fail(value.status());
  const TensorView& view = value->view;
  if (view.dtype == DType::kString) return step->fail(refused("a tensor of texts has no numbers"));
  const auto* bytes = static_cast<const std::byte*>(view.data);
  const TensorValue copy{view.dtype, view.shape, {bytes, bytes + view.packed_bytes()}, {}};
  const std::vector<double>& kept = step->values.emplace_back(copy.to_doubles());
  const auto shape = view.shape.sizes();
  const std::vector<std::int64_t>& sizes = step->shapes.emplace_back(shape.begin(), shape.end());
  *numbers = kept.data();
  *count = kept.size();
  *dimensions = sizes.data();
  *rank = sizes.size();
  return TRAINWARDEN_CALL_OK;
}

const char* last_error(const Step* step) {
  return step->error.c_str();
}

void set_message(Step* step, const char* message) {
  step->verdict.message = text_of(message);
}
void set_advice(Step* step, const char* advice) {
  step->verdict.advice = text_of(advice);
}
void set_severity(Step* step, int severity) {
  step->verdict.severity =
      static_cast<Severity>(std::clamp<int>(severity, TRAINWARDEN_SEVERITY_INFO, TRAINWARDEN_SEVERITY_ERROR));
}
void set_confidence(Step* step, double confidence) {
  if (confidence >= 0 && confidence <= 1) step->verdict.confidence = confidence;
}
void add_evidence(Step* step, const Tensor* tensor, const char* quantity, double value, double threshold) {
  auto& evidence = step->verdict.evidence;
  if (evidence.size() == Verdict::kMaxEvidence) return;
  Evidence piece{"", "", text_of(quantity), value, threshold, step->window.global_step()};
  if (const TensorSpot* const spot = tensor == nullptr ? nullptr : spot_of(*step, tensor)) {
    piece.tensor = spot->tensor;
    piece.worker = spot->shown_worker;
  }
  evidence.push_back(std::move(piece));
}

constexpr trainwarden_step_api_v1 kApi = {sizeof(trainwarden_step_api_v1),
                                          global_step,
                                          mode,
                                          mode_step,
                                          select,
                                          statistics,
                                          reduction,
                                          scalar,
                                          values,
                                          last_error,
                                          set_message,
                                          set_advice,
                                          set_severity,
                                          set_confidence,
                                          add_evidence};

class SharedObjectRule final : public Rule {
 public:
  SharedObjectRule(const trainwarden_rule_v1& kind, void* rule, std::vector<Collection> needs)
      : kind_(kind), rule_(rule), needs_(std::move(needs)) {}
  ~SharedObjectRule() override { kind_.destroy(rule_); }

  Verdict evaluate(const StepWindow& window) override {
    Step step{window, {}, {}, {}, {}, {}, {}, {}};
    const int outcome = kind_.evaluate(rule_, &kApi, &step);
    if (outcome < TRAINWARDEN_OK || outcome > TRAINWARDEN_ERROR) {
      return Verdict::error(fmt::format("evaluate() returned {}, which is no answer", outcome));
    }
    step.verdict.outcome = static_cast<Outcome>(outcome);
    return std::move(step.verdict);
  }

  std::vector<Collection> needs() const override { return needs_; }

 private:
  const trainwarden_rule_v1& kind_;
  void* const rule_;
  const std::vector<Collection> needs_;
};

static_assert(static_cast<int>(Outcome::kError) == TRAINWARDEN_ERROR);
static_assert(static_cast<int>(Severity::kError) == TRAINWARDEN_SEVERITY_ERROR);
static_assert(static_cast<int>(Mode::kGlobal) == TRAINWARDEN_GLOBAL);

// A kind at a time: theirs may be larger than ours.
Result<std::vector<const trainwarden_rule_v1*>> kinds_of(const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return refused(fmt::format("it cannot be loaded: {}", printable(text_of(dlerror()))));
  const auto entry = reinterpret_cast<trainwarden_rules_v1_function>(dlsym(library, kEntry));
  if (entry == nullptr) {
    return refused(fmt::format("it exports no {}(); see trainwarden/rule_abi.h", kEntry));
  }
  std::size_t count = 0;
  const auto* place = reinterpret_cast<const char*>(entry(&count));
  if (place == nullptr || count == 0) return refused("it has no rules");
  std::vector<const trainwarden_rule_v1*> kinds;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* kind = reinterpret_cast<const trainwarden_rule_v1*>(place);
    if (kind->struct_size < sizeof(trainwarden_rule_v1)) {
      return refused(
          fmt::format("the table of its rule {} has struct_size {}, expected sizeof(trainwarden_rule_v1), {}", i,
                      kind->struct_size, sizeof(trainwarden_rule_v1)));
    }
    if (kind->name == nullptr || kind->create == nullptr || kind->evaluate == nullptr || kind->destroy == nullptr) {
      return refused(fmt::format("the table of its rule {} lacks name, create, evaluate or destroy", i));
    }
    kinds.push_back(kind);
    place += kind->struct_size;
  }
  return kinds;
}

Result<const trainwarden_rule_v1*> find_kind(const std::string& file, const std::string& name) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto kinds, kinds_of(file));
  if (name.empty() && kinds.size() == 1) return kinds[0];
  std::vector<std::string> names;
  for (const auto* kind : kinds) {
    if (name == kind->name) return kind;
    names.emplace_back(kind->name);
  }
  const std::string wanted = name.empty() ? "several rules, and none was named" : fmt::format("no rule \"{}\"", name);
  return refused(fmt::format("it has {}{}; it has {}", wanted, name.empty() ? "" : did_you_mean(name, names),
                             fmt::join(names, ", ")));
}

// One for each parameter of the kind, in their order.
Result<std::vector<std::string>> values_for(const trainwarden_rule_v1& kind, RuleParameters given) {
  std::vector<std::string> values;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kind.parameter_count; ++i) {
    const trainwarden_parameter_v1& parameter = kind.parameters[i];
    names.push_back(text_of(parameter.name));
    const auto found = given.find(names.back());
    if (found == given.end() && parameter.default_value == nullptr) {
      return refused(fmt::format("it needs the parameter {}: {}", names.back(), text_of(parameter.description)));
    }
    values.push_back(found == given.end() ? parameter.default_value : found->second);
    if (found != given.end()) given.erase(found);
  }
  if (given.empty()) return values;
  const std::string& unknown = given.begin()->first;
  return refused(fmt::format("it has no parameter \"{}\"{}; its parameters are {}", printable(unknown),
                             did_you_mean(unknown, names), fmt::join(names, ", ")));
}

Result<std::vector<Collection>> needs_of_rule(const trainwarden_rule_v1& kind, void* rule) {
  std::vector<Collection> needs;
  if (kind.needs == nullptr) return needs;
  const trainwarden_need_v1* list = nullptr;
  const std::size_t count = kind.needs(rule, &list);
  for (std::size_t i = 0; i < count; ++i) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const language::Selector selector, parse_selector(list[i].selector));
    if (list[i].every < 1) return refused(fmt::format("it needs {} every {} steps", selector.text(), list[i].every));
    Collection need = selector.need(SavePolicy::every(list[i].every));
    const unsigned keep = list[i].keep;
    need.keep = KeepForm{(keep & TRAINWARDEN_KEEP_VALUES) != 0, (keep & TRAINWARDEN_KEEP_STATISTICS) != 0,
                         (keep & TRAINWARDEN_KEEP_HISTOGRAM) != 0, (keep & TRAINWARDEN_KEEP_HASH) != 0,
                         (keep & TRAINWARDEN_KEEP_SHAPE) != 0};
    needs.push_back(std::move(need));
  }
  return needs;
}

}  // namespace

Result<std::unique_ptr<Rule>> load_shared_object_rule(const std::string& file, const std::string& name,
                                                      const RuleParameters& parameters) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const trainwarden_rule_v1* const kind, find_kind(file, name));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> values, values_for(*kind, parameters));
  std::vector<const char*> pointers;
  for (const std::string& value : values) pointers.push_back(value.c_str());
  std::array<char, kErrorBytes> error{};
  void* const rule = kind->create(pointers.data(), error.data(), error.size() - 1);
  if (rule == nullptr) return refused(error[0] == '\0' ? "it refuses these parameters" : error.data());
  auto needs = needs_of_rule(*kind, rule);
  if (needs.ok()) return std::unique_ptr<Rule>(new SharedObjectRule(*kind, rule, *std::move(needs)));
  kind->destroy(rule);
  return needs.status();
}

}  // namespace trainwarden::rules
