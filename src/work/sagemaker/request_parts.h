// The parts of a CreateTrainingJob, one function each; not for other floors (request_files.h).
#pragma once

#include <initializer_list>
#include <string>

#include "data/format/json.h"
#include "work/document/table_reader.h"
#include "work/sagemaker/request_files.h"

namespace trainwarden::sagemaker {

// What is read, and what comes out.
struct RequestReading {
  const RequestPlaces& places;
  document::Mistakes& mistakes;
  RequestFiles files;
  format::OrderedJson job = format::OrderedJson::object();
};

// A field that only the cloud has, and what to use here. It may be there without a meaning: false, null, or empty.
struct CloudField {
  const char* name;
  const char* instead;
};
void refuse_fields(document::TableReader& table, std::initializer_list<CloudField> fields);

// The same place, also for who works in another folder.
std::string absolute_address(const std::string& address, const RequestReading& reading);
// SageMaker makes a disk of this size. That the disk which is here is smaller is no reason not to train.
void read_volume(document::TableReader& table, RequestReading& reading);
// Numbers of one table of the request, under the keys of a job.
struct NumberField {
  const char* name;
  const char* key;
};
void read_numbers(document::TableReader& request, const char* field, std::initializer_list<NumberField> numbers,
                  RequestReading& reading);
void read_environment(document::TableReader& request, format::OrderedJson& environment);
void read_records(document::TableReader& request, RequestReading& reading);  // tags, experiment, role

// As it was written; null for nullptr.
format::OrderedJson json_of(const document::DocumentValue* value);
// Its text for a file that people may read.
std::string file_text(const format::OrderedJson& json);

// InputDataConfig, OutputDataConfig, CheckpointConfig. `default_mode` is that of the algorithm; empty: File.
void read_data(document::TableReader& request, const std::string& default_mode, RequestReading& reading);

// All of a CreateProcessingJob but its name.
void read_processing(document::TableReader& request, RequestReading& reading);

// DebugHookConfig, rules, actions, the profiler, TensorBoard. `environment` gets what the program has to be told.
void read_watching(document::TableReader& request, format::OrderedJson& environment, RequestReading& reading);

// The file of actions that these rules start (docs/reference/actions.md); empty when they start none. `rules` is
// DebugRuleConfigurations of the job `job`. kInvalidArgument: an action that is not known, that is for another job, or
// that nothing is there to send a message with.
Result<std::string> action_file_text(const format::OrderedJson& rules, const std::string& job,
                                     const Environment& environment);

}  // namespace trainwarden::sagemaker
