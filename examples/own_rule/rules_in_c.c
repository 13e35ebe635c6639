/* A rule in C: fires when the loss is above a limit. docs/guide/own-rules.md walks through it. */
#include <stdio.h>
#include <stdlib.h>

#include "trainwarden/rule_abi.h"

typedef struct {
  double limit;
} loss_above;

static void* create(const char* const* values, char* error, size_t error_size) {
  char* end = NULL;
  const double limit = strtod(values[0], &end);
  if (end == values[0] || *end != '\0') {
    snprintf(error, error_size, "parameter limit: expected a number, found \"%s\"", values[0]);
    return NULL;
  }
  loss_above* rule = malloc(sizeof *rule);
  if (rule != NULL) rule->limit = limit;
  return rule;
}

static size_t needs(void* rule, const trainwarden_need_v1** list) {
  static const trainwarden_need_v1 losses = {"@losses", TRAINWARDEN_KEEP_VALUES, 1};
  (void)rule;
  *list = &losses;
  return 1;
}

static int evaluate(void* state, const trainwarden_step_api_v1* api, trainwarden_step* step) {
  const loss_above* rule = state;
  const trainwarden_tensor_v1* losses = NULL;
  size_t count = 0;
  size_t judged = 0;
  int answer = TRAINWARDEN_OK;
  if (api->select(step, "@losses", &losses, &count) != TRAINWARDEN_CALL_OK) {
    api->set_message(step, api->last_error(step));
    return TRAINWARDEN_ERROR;
  }
  for (size_t i = 0; i < count; ++i) {
    double loss = 0;
    if (api->scalar(step, &losses[i], &loss) != TRAINWARDEN_CALL_OK) continue;
    ++judged;
    if (loss > rule->limit) {
      api->add_evidence(step, &losses[i], "value", loss, rule->limit);
      answer = TRAINWARDEN_FIRED;
    }
  }
  if (judged == 0) {
    api->set_message(step, "no loss was captured");
    return TRAINWARDEN_NOT_APPLICABLE;
  }
  if (answer == TRAINWARDEN_FIRED) {
    api->set_message(step, "The loss is above its limit.");
    api->set_advice(step, "Try a lower learning rate.");
  }
  return answer;
}

static const trainwarden_parameter_v1 parameters[] = {{"limit", "10", "the highest loss that is still fine"}};
static const trainwarden_rule_v1 rules[] = {{sizeof(trainwarden_rule_v1), "LossAbove",
                                             "Fires when a loss is above a limit.", parameters, 1, create, needs,
                                             evaluate, free}};

const trainwarden_rule_v1* trainwarden_rules_v1(size_t* count) {
  *count = sizeof rules / sizeof rules[0];
  return rules;
}
