/* A rule of one's own in a shared object: the stable interface in C, version 1.
 *
 *   trainwarden check first --rule ./my_rules.so:MyRule:threshold=3
 *
 * The shared object exports trainwarden_rules_v1() and links nothing of Trainwarden: what a rule calls is handed to it.
 * It runs in a process of its own, one for each rule, in one thread; when it crashes, hangs or eats memory, it is that
 * process which ends. docs/guide/own-rules.md walks through it, examples/own_rule has a rule in C and one in C++.
 *
 * Texts are UTF-8 and end with a zero. What a function gives lives until the end of evaluate() unless said otherwise.
 * Structures grow at the end only; `struct_size` says how much of one the other side knows. C99, or C++11 and later.
 */
#ifndef TRAINWARDEN_RULE_ABI_H
#define TRAINWARDEN_RULE_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRAINWARDEN_RULE_ABI_VERSION 1

/* What evaluate() answers. Silence is no answer. */
enum {
  TRAINWARDEN_OK = 0,                /* judged, nothing wrong */
  TRAINWARDEN_FIRED = 1,             /* the condition is met */
  TRAINWARDEN_NOT_APPLICABLE = 2,    /* nothing of what the rule judges was captured at this step */
  TRAINWARDEN_INSUFFICIENT_DATA = 3, /* something was, but not enough yet */
  TRAINWARDEN_ERROR = 4              /* the rule failed; it is asked no more */
};

enum { TRAINWARDEN_SEVERITY_INFO = 0, TRAINWARDEN_SEVERITY_WARNING = 1, TRAINWARDEN_SEVERITY_ERROR = 2 };

enum { TRAINWARDEN_TRAIN = 1, TRAINWARDEN_EVAL = 2, TRAINWARDEN_PREDICT = 3, TRAINWARDEN_GLOBAL = 4 };

/* Forms in which a tensor is kept, for needs(); any sum of them. */
enum {
  TRAINWARDEN_KEEP_VALUES = 1,
  TRAINWARDEN_KEEP_STATISTICS = 2,
  TRAINWARDEN_KEEP_HISTOGRAM = 4,
  TRAINWARDEN_KEEP_HASH = 8,
  TRAINWARDEN_KEEP_SHAPE = 16
};

/* What the functions below return. */
enum {
  TRAINWARDEN_CALL_OK = 0,
  TRAINWARDEN_CALL_MISSING = 1, /* not there, or not kept in a form that has what is asked */
  TRAINWARDEN_CALL_FAILED = 2   /* a wrong selector or name, damaged data; last_error() says which */
};

/* A tensor that the step holds on one worker. */
typedef struct trainwarden_tensor_v1 {
  const char* name;
  const char* worker; /* "rank-00000" */
  uint64_t handle;    /* not yours to change */
} trainwarden_tensor_v1;

/* Of all elements; as in trainwarden/statistics.h. Means and spreads are over the finite elements, NaN when there are
 * none; std and variance are the population's. */
typedef struct trainwarden_statistics_v1 {
  uint64_t count, nan_count, positive_inf_count, negative_inf_count, zero_count;
  double min, max, abs_min, abs_max;
  double sum, mean, variance, std, l1, l2, abs_mean, abs_variance, abs_std;
} trainwarden_statistics_v1;

/* The step that is judged, and the answer that is being given. Both are handles for the functions. */
typedef struct trainwarden_step trainwarden_step;

typedef struct trainwarden_step_api_v1 {
  size_t struct_size;

  int64_t (*global_step)(const trainwarden_step* step);
  int (*mode)(const trainwarden_step* step); /* TRAINWARDEN_TRAIN, ... */
  int64_t (*mode_step)(const trainwarden_step* step);

  /* The tensors of the step that a selector of the rule language chooses, such as @weights, conv? or a name: by
   * name, then by worker. */
  int (*select)(trainwarden_step* step, const char* selector, const trainwarden_tensor_v1** tensors, size_t* count);
  int (*statistics)(trainwarden_step* step, const trainwarden_tensor_v1* tensor, trainwarden_statistics_v1* result);
  /* "min", "max", "mean", "std", "variance", "sum", "l1", "l2" or "prod", over all elements: NaN when one is NaN.
   * abs: not 0 for that of the absolute values. */
  int (*reduction)(trainwarden_step* step, const trainwarden_tensor_v1* tensor, const char* name, int abs,
                   double* result);
  int (*scalar)(trainwarden_step* step, const trainwarden_tensor_v1* tensor, double* result);
  /* All elements in row-major order as doubles (bool as 0 and 1, of complex ones the real part), and the dimensions. */
  int (*values)(trainwarden_step* step, const trainwarden_tensor_v1* tensor, const double** values, size_t* count,
                const int64_t** dimensions, size_t* rank);
  const char* (*last_error)(const trainwarden_step* step); /* of the last call that did not return CALL_OK */

  /* The answer, besides what evaluate() returns. The texts are copied. */
  void (*set_message)(trainwarden_step* step, const char* message);  /* one sentence: what is wrong, with numbers */
  void (*set_advice)(trainwarden_step* step, const char* advice);    /* one sentence: what to try next */
  void (*set_severity)(trainwarden_step* step, int severity);        /* TRAINWARDEN_SEVERITY_WARNING unless set */
  void (*set_confidence)(trainwarden_step* step, double confidence); /* in [0, 1]; 1 unless set */
  /* At most 20 are kept, the first ones: the worst first. tensor may be null. */
  void (*add_evidence)(trainwarden_step* step, const trainwarden_tensor_v1* tensor, const char* quantity, double value,
                       double threshold);
} trainwarden_step_api_v1;

typedef struct trainwarden_parameter_v1 {
  const char* name;
  const char* default_value; /* as text; null: the user must give it */
  const char* description;   /* with the unit */
} trainwarden_parameter_v1;

/* What `trainwarden run` is to capture for a rule. */
typedef struct trainwarden_need_v1 {
  const char* selector; /* as for select() */
  unsigned keep;        /* TRAINWARDEN_KEEP_... */
  int64_t every;        /* steps, at least 1 */
} trainwarden_need_v1;

/* A kind of rule. Functions must not throw; one that does is an error of the rule. */
typedef struct trainwarden_rule_v1 {
  size_t struct_size;
  const char* name;
  const char* summary; /* one sentence that starts "Fires when" */
  const trainwarden_parameter_v1* parameters;
  size_t parameter_count;

  /* A rule for these values, one for each parameter in their order, defaults filled in. Null when a value is bad, with
   * what was expected and found in error. */
  void* (*create)(const char* const* values, char* error, size_t error_size);
  /* May be null: nothing. Gives an array that lives as long as the rule. Asked once. */
  size_t (*needs)(void* rule, const trainwarden_need_v1** needs);
  /* Judges the step; called for each complete step in rising order. TRAINWARDEN_OK, ... */
  int (*evaluate)(void* rule, const trainwarden_step_api_v1* api, trainwarden_step* step);
  void (*destroy)(void* rule);
} trainwarden_rule_v1;

/* What a shared object exports: its rules. The array lives as long as the shared object. */
typedef const trainwarden_rule_v1* (*trainwarden_rules_v1_function)(size_t* count);

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const trainwarden_rule_v1*
trainwarden_rules_v1(size_t* count);

#ifdef __cplusplus
}
#endif

#endif
