#include "ui/cli/options/output_choice.h"

#include "core/process/descriptors.h"
#include "data/format/json.h"
#include "ui/cli/options/job_choice.h"

namespace trainwarden::cli {
namespace {

// As log_metrics::parse_definitions() reads it.
std::string text_of(const log_metrics::DefinitionSet& set) {
  format::OrderedJson list = format::OrderedJson::array();
  for (const log_metrics::MetricDefinition& definition : set.definitions) {
    list.push_back({{"name", definition.name},
                    {"regex", definition.regex},
                    {"match", log_metrics::name(definition.match)},
                    {"percent", definition.percent},
                    {"thousands", definition.thousands}});
  }
  return format::dump_json({{"metric_definitions", list}, {"strict_metrics", set.strict}});
}

}  // namespace

Result<std::filesystem::path> OutputChoice::file() const {
  if (!of_job) return std::filesystem::path(log);
  TRAINWARDEN_ASSIGN_OR_RETURN(const OwnJob own, own_job());
  if (own.job.order().ranks == 1) return own.job.output();
  // What all ranks print alike is counted once.
  TRAINWARDEN_ASSIGN_OR_RETURN(std::filesystem::path file, own.job.prepare_rank_log(0));
  TRAINWARDEN_RETURN_IF_ERROR(process::open_log_file(file.string()).status());  // it is followed from now on
  return file;
}

Result<std::optional<log_metrics::DefinitionSet>> OutputChoice::definitions() const {
  std::optional<log_metrics::DefinitionSet> set;
  if (!metrics.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(set, log_metrics::read_definition_file(metrics));
  } else if (!metric_texts.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(set, log_metrics::parse_definitions(metric_texts, "metrics.json"));
  }
  return set;
}

void add_output_options(CLI::App& command, OutputChoice& choice) {
  CLI::Option* const log =
      command.add_option("--log", choice.log,
                         "Have the program print into this file, behind its end, and print it here too; metrics that "
                         "are found there become series of the run");
  log->type_name("FILE");
  command
      .add_option("--metrics", choice.metrics,
                  "Which metrics are found in --log, as `metrics try --definitions` takes them (default: those of "
                  "Keras, tf.estimator, Hugging Face, Lightning and tqdm)")
      ->type_name("FILE")
      ->needs(log);
  CLI::Option* const of_job = command.add_flag("--of-job", choice.of_job)->excludes(log)->group("");
  command.add_option("--metric-texts", choice.metric_texts)->needs(of_job)->group("");
}

std::vector<std::string> words_of_job_metrics(const log_metrics::DefinitionSet& definitions) {
  if (definitions.definitions.empty()) return {"--of-job"};
  return {"--of-job", "--metric-texts", text_of(definitions)};
}

}  // namespace trainwarden::cli
