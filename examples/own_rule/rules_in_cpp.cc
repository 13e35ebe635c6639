// Rules in C++. NormJump fires when the norm of a gradient is many times its own norm one step before. The other two
// are there to be seen fail. docs/guide/own-rules.md walks through it.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "trainwarden/rule_abi.h"

namespace {

class NormJump {
 public:
  explicit NormJump(double factor) : factor_(factor) {}

  int evaluate(const trainwarden_step_api_v1& api, trainwarden_step* step) {
    const trainwarden_tensor_v1* gradients = nullptr;
    size_t count = 0;
    if (api.select(step, "gradient/*", &gradients, &count) != TRAINWARDEN_CALL_OK) return TRAINWARDEN_ERROR;
    if (count == 0) return TRAINWARDEN_NOT_APPLICABLE;
    bool compared = false;
    bool fired = false;
    for (size_t i = 0; i < count; ++i) {
      trainwarden_statistics_v1 statistics{};
      if (api.statistics(step, &gradients[i], &statistics) != TRAINWARDEN_CALL_OK) continue;
      const std::string key = std::string(gradients[i].worker) + "/" + gradients[i].name;
      const auto before = norms_.find(key);
      if (before != norms_.end()) {
        compared = true;
        if (statistics.l2 > factor_ * before->second) {
          api.add_evidence(step, &gradients[i], "l2", statistics.l2, factor_ * before->second);
          fired = true;
        }
      }
      norms_[key] = statistics.l2;
    }
    if (!compared) return TRAINWARDEN_INSUFFICIENT_DATA;
    if (!fired) return TRAINWARDEN_OK;
    api.set_severity(step, TRAINWARDEN_SEVERITY_ERROR);
    api.set_message(step, "A gradient's norm jumped from one step to the next.");
    api.set_advice(step, "Look at the batch of this step.");
    return TRAINWARDEN_FIRED;
  }

 private:
  double factor_;
  std::map<std::string, double> norms_;
};

void* create(const char* const* values, char* error, size_t error_size) {
  const double factor = std::atof(values[0]);
  if (factor > 1) return new NormJump(factor);
  std::snprintf(error, error_size, "parameter factor: expected a number above 1, found \"%s\"", values[0]);
  return nullptr;
}

size_t needs(void*, const trainwarden_need_v1** list) {
  static const trainwarden_need_v1 kGradients = {"gradient/*", TRAINWARDEN_KEEP_STATISTICS, 1};
  *list = &kGradients;
  return 1;
}

int evaluate(void* rule, const trainwarden_step_api_v1* api, trainwarden_step* step) {
  return static_cast<NormJump*>(rule)->evaluate(*api, step);
}

void destroy(void* rule) {
  delete static_cast<NormJump*>(rule);
}

// What rules should not do. The engine outlives it.
void* create_nothing(const char* const*, char*, size_t) {
  static int nothing = 0;
  return &nothing;
}
void destroy_nothing(void*) {}

int crash(void*, const trainwarden_step_api_v1*, trainwarden_step*) {
  std::fputs("about to crash\n", stderr);
  std::abort();
}

int spin(void*, const trainwarden_step_api_v1*, trainwarden_step*) {
  volatile bool forever = true;
  while (forever) {
  }
  return TRAINWARDEN_OK;
}

constexpr trainwarden_parameter_v1 kParameters[] = {{"factor", "10", "how many times its last norm is a jump"}};
constexpr trainwarden_rule_v1 kRules[] = {
    {sizeof(trainwarden_rule_v1), "NormJump", "Fires when the norm of a gradient jumps.", kParameters, 1, create, needs,
     evaluate, destroy},
    {sizeof(trainwarden_rule_v1), "Crashes", "Fires never: it crashes.", nullptr, 0, create_nothing, nullptr, crash,
     destroy_nothing},
    {sizeof(trainwarden_rule_v1), "Spins", "Fires never: it does not end.", nullptr, 0, create_nothing, nullptr, spin,
     destroy_nothing}};

}  // namespace

const trainwarden_rule_v1* trainwarden_rules_v1(size_t* count) {
  *count = sizeof kRules / sizeof kRules[0];
  return kRules;
}
