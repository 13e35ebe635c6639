// The data of a request: channels, results, checkpoints.
#include <array>

#include <fmt/format.h>

#include "work/sagemaker/request_parts.h"

namespace trainwarden::sagemaker {
namespace {

using document::DocumentValue;
using document::TableReader;
using format::OrderedJson;

constexpr const char* kFolderOfData = "give the folder of the data";
constexpr std::array<const char*, 1> kPrefix = {"S3Prefix"};
constexpr std::array<const char*, 1> kNone = {"None"};

void add_text(const char* key, const std::optional<std::string>& text, OrderedJson& json) {
  if (text && !text->empty()) json[key] = *text;
}

void read_source(TableReader& channel, OrderedJson& input, RequestReading& reading) {
  const DocumentValue* const source = channel.table({"DataSource"});
  if (source == nullptr) return reading.mistakes.add(channel.place(), "expected the field DataSource");
  TableReader kinds(*source, reading.mistakes);
  refuse_fields(kinds, {{"FileSystemDataSource", kFolderOfData}, {"DatasetSource", kFolderOfData}});
  const DocumentValue* const bucket = kinds.table({"S3DataSource"});
  kinds.refuse_rest();
  if (bucket == nullptr) return reading.mistakes.add(source->place, "expected the field S3DataSource");
  TableReader place(*bucket, reading.mistakes);
  place.choice({"S3DataType"}, kPrefix);
  const auto address = place.text({"S3Uri"});
  if (!address || address->empty()) return reading.mistakes.add(bucket->place, "expected the field S3Uri");
  input["source"] = absolute_address(*address, reading);
  add_text("distribution", place.text({"S3DataDistributionType"}), input);
  refuse_fields(place, {{"AttributeNames", kFolderOfData},
                        {"InstanceGroupNames", "a job has one kind of node; leave it out"},
                        {"ModelAccessConfig", "give the folder of the model"},
                        {"HubAccessConfig", kFolderOfData}});
  place.refuse_rest();
}

void read_channel(const DocumentValue& value, const std::string& default_mode, RequestReading& reading) {
  if (!value.is(DocumentValue::Kind::kTable)) {
    return reading.mistakes.add(value.place, "InputDataConfig: expected {\"ChannelName\": ..., \"DataSource\": ...}");
  }
  TableReader channel(value, reading.mistakes);
  const std::string name = channel.text({"ChannelName"}).value_or("");
  if (name.empty()) reading.mistakes.add(value.place, "expected the field ChannelName");
  OrderedJson input = OrderedJson::object();
  read_source(channel, input, reading);
  const std::string mode = channel.text({"InputMode"}).value_or("");
  add_text("mode", mode.empty() ? default_mode : mode, input);
  add_text("content_type", channel.text({"ContentType"}), input);
  channel.choice({"CompressionType"}, kNone);
  channel.choice({"RecordWrapperType"}, kNone);
  refuse_fields(channel, {{"ShuffleConfig", "shuffle in the program's own data loader"}});
  channel.refuse_rest();
  if (reading.job.contains("inputs") && reading.job["inputs"].contains(name)) {
    return reading.mistakes.add(value.place, "ChannelName: two channels have this name");
  }
  reading.job["inputs"][name] = input;
}

void read_output(const DocumentValue& value, RequestReading& reading) {
  TableReader output(value, reading.mistakes);
  const std::string address = output.text({"S3OutputPath"}).value_or("");
  if (!address.empty()) reading.job["output_dir"] = absolute_address(address, reading);
  const std::string compression = output.text({"CompressionType"}).value_or("");
  if (!compression.empty() && compression != "GZIP") {
    reading.mistakes.add(value.place, "CompressionType: expected GZIP: results are packed; unpack model.tar.gz");
  }
  refuse_fields(output, {{"KmsKeyId", "nothing leaves this machine; encrypt the disk"}});
  output.refuse_rest();
}

void read_checkpoints(const DocumentValue& value, RequestReading& reading) {
  TableReader checkpoints(value, reading.mistakes);
  const std::string address = checkpoints.text({"S3Uri"}).value_or("");
  if (!address.empty()) reading.job["checkpoint_s3_uri"] = absolute_address(address, reading);
  add_text("checkpoint_local_path", checkpoints.text({"LocalPath"}), reading.job);
  checkpoints.refuse_rest();
}

}  // namespace

void read_data(TableReader& request, const std::string& default_mode, RequestReading& reading) {
  if (const DocumentValue* const inputs = request.take({"InputDataConfig"})) {
    if (!inputs->is(DocumentValue::Kind::kList)) request.wrong_kind(*inputs, "InputDataConfig", "a list of channels");
    for (const DocumentValue& channel : inputs->items) read_channel(channel, default_mode, reading);
  }
  if (const DocumentValue* const output = request.table({"OutputDataConfig"})) read_output(*output, reading);
  if (const DocumentValue* const kept = request.table({"CheckpointConfig"})) read_checkpoints(*kept, reading);
}

}  // namespace trainwarden::sagemaker
