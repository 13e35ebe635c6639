// A CreateProcessingJob: a step that prepares or judges data, as a job. It finds its inputs in channels, and writes
// into the folders that its outputs are to be in; words of its command that name a place of SageMaker's containers get
// that.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "work/sagemaker/request_parts.h"
#include "work/workspace/layout.h"

namespace trainwarden::sagemaker {
namespace {

using document::DocumentValue;
using document::TableReader;
using format::OrderedJson;

constexpr std::array<const char*, 2> kUploads = {"EndOfJob", "Continuous"};
constexpr std::array<const char*, 1> kWholePrefix = {"S3Prefix"};
constexpr std::array<const char*, 1> kAsFiles = {"File"};
constexpr std::array<const char*, 1> kNotCompressed = {"None"};

// A folder of SageMaker's container, and what stands for it here.
struct KnownPlace {
  std::string there;
  std::string here;
};

class ProcessingReader {
 public:
  ProcessingReader(TableReader& request, RequestReading& reading) : request_(request), reading_(reading) {}

  void read() {
    each_of("ProcessingInputs", request_, [this](const DocumentValue& value) { read_input(value); });
    if (const DocumentValue* const config = request_.table({"ProcessingOutputConfig"})) {
      TableReader table(*config, reading_.mistakes);
      each_of("Outputs", table, [this](const DocumentValue& value) { read_output(value); });
      refuse_fields(table, {{"KmsKeyId", "nothing leaves this machine; encrypt the disk"}});
      table.refuse_rest();
    }
    // The innermost folder counts.
    std::sort(places_.begin(), places_.end(),
              [](const KnownPlace& a, const KnownPlace& b) { return a.there.size() > b.there.size(); });
    read_program();
    read_resources();
    read_numbers(request_, "StoppingCondition", {{"MaxRuntimeInSeconds", "max_run"}}, reading_);
    OrderedJson environment = OrderedJson::object();
    read_environment(request_, environment);
    for (auto& [name, value] : environment.items()) {
      if (value.is_string()) value = placed(value.get<std::string>());
    }
    if (!environment.empty()) reading_.job["environment"] = environment;
    read_records(request_, reading_);
    reading_.job["hook"] = false;
  }

 private:
  template <class Read>
  void each_of(const char* field, TableReader& table, const Read& read) {
    const DocumentValue* const list = table.take({field});
    if (list == nullptr) return;
    if (!list->is(DocumentValue::Kind::kList)) return table.wrong_kind(*list, field, "a list");
    for (const DocumentValue& value : list->items) {
      if (value.is(DocumentValue::Kind::kTable)) {
        read(value);
      } else {
        table.wrong_kind(value, field, "a list of tables");
      }
    }
  }

  void wrong(const DocumentValue& value, const char* what) { reading_.mistakes.add(value.place, what); }

  void add_place(const std::optional<std::string>& there, const std::string& here) {
    std::string folder = there.value_or("");
    while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    if (!folder.empty()) places_.push_back({folder, here});
  }

  void read_input(const DocumentValue& value) {
    TableReader input(value, reading_.mistakes);
    const std::string name = input.text({"InputName"}).value_or("");
    if (name.empty()) wrong(value, "expected the field InputName");
    input.boolean({"AppManaged"});
    refuse_fields(input, {{"DatasetDefinition", "give the folder of the data"}});
    const DocumentValue* const bucket = input.table({"S3Input"});
    input.refuse_rest();
    if (bucket == nullptr) return wrong(value, "expected the field S3Input");
    TableReader source(*bucket, reading_.mistakes);
    const std::string address = source.text({"S3Uri"}).value_or("");
    if (address.empty()) return wrong(*bucket, "expected the field S3Uri");
    OrderedJson channel = {{"source", absolute_address(address, reading_)}};
    if (const auto divided = source.text({"S3DataDistributionType"})) channel["distribution"] = *divided;
    source.choice({"S3DataType"}, kWholePrefix);
    source.choice({"S3InputMode"}, kAsFiles);
    source.choice({"S3CompressionType"}, kNotCompressed);
    const auto folder = reading_.places.jobs / reading_.files.name / "ml" / "input" / "data" / name;
    add_place(source.text({"LocalPath"}), folder.string());
    source.refuse_rest();
    if (reading_.job.contains("inputs") && reading_.job["inputs"].contains(name)) {
      return wrong(value, "InputName: two inputs have this name");
    }
    reading_.job["inputs"][name] = channel;
  }

  void read_output(const DocumentValue& value) {
    TableReader output(value, reading_.mistakes);
    const std::string name = output.text({"OutputName"}).value_or("");
    if (name.empty()) wrong(value, "expected the field OutputName");
    output.boolean({"AppManaged"});
    refuse_fields(output, {{"FeatureStoreOutput", "there is no feature store; give an S3Output"}});
    const DocumentValue* const bucket = output.table({"S3Output"});
    output.refuse_rest();
    if (bucket == nullptr) return wrong(value, "expected the field S3Output");
    TableReader target(*bucket, reading_.mistakes);
    const std::string address = target.text({"S3Uri"}).value_or("");
    if (address.empty()) return wrong(*bucket, "expected the field S3Uri");
    target.choice({"S3UploadMode"}, kUploads);  // it is there at once in either mode
    const auto folder = workspace::local_path(absolute_address(address, reading_), reading_.places.here);
    if (!folder.ok()) return reading_.mistakes.add(bucket->place, folder.status().message());
    add_place(target.text({"LocalPath"}), folder->string());
    target.refuse_rest();
    if (!reading_.files.outputs.emplace(name, *folder).second) wrong(value, "OutputName: two outputs have this name");
  }

  // A word that names a known place or something in it, also behind "=".
  std::string placed(const std::string& word) const {
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    if (equals != std::string::npos) return word.substr(0, equals + 1) + placed(word.substr(equals + 1));
    for (const KnownPlace& place : places_) {
      if (word == place.there || word.starts_with(place.there + "/")) {
        return place.here + word.substr(place.there.size());
      }
    }
    return word;
  }

  void add_words(const char* key, std::vector<std::string> words) {
    if (words.empty()) return;
    for (std::string& word : words) word = placed(word);
    reading_.job[key] = words;
  }

  void read_program() {
    const DocumentValue* const value = request_.table({"AppSpecification"});
    if (value == nullptr) return reading_.mistakes.add(request_.place(), "expected the field AppSpecification");
    TableReader program(*value, reading_.mistakes);
    const std::vector<std::string> command = program.texts({"ContainerEntrypoint"});
    add_words("program", command);
    add_words("arguments", program.texts({"ContainerArguments"}));
    if (command.empty()) wrong(*value, "expected ContainerEntrypoint, the program: [\"python3\", \"prepare.py\"]");
    const std::string image = program.text({"ImageUri"}).value_or("");
    if (!image.empty()) reading_.job["image"] = image;
    if (!image.empty() && !reading_.files.outputs.empty()) {
      wrong(*value,
            "ImageUri: a container does not see the folders of ProcessingOutputConfig; leave it out, and the "
            "step runs in this environment");
    }
    program.refuse_rest();
  }

  void read_resources() {
    if (const DocumentValue* const value = request_.table({"ProcessingResources"})) {
      TableReader resources(*value, reading_.mistakes);
      if (const DocumentValue* const config = resources.table({"ClusterConfig"})) read_cluster(*config);
      resources.refuse_rest();
    }
    const DocumentValue* const network = request_.table({"NetworkConfig"});
    if (network == nullptr) return;
    TableReader config(*network, reading_.mistakes);
    if (config.boolean({"EnableNetworkIsolation"}).value_or(false)) reading_.job["isolated_network"] = true;
    constexpr const char* kUse = "a job has the network of this machine; leave it out";
    refuse_fields(config, {{"VpcConfig", kUse}, {"EnableInterContainerTrafficEncryption", kUse}});
    config.refuse_rest();
  }

  void read_cluster(const DocumentValue& value) {
    TableReader cluster(value, reading_.mistakes);
    if (const auto* count = cluster.take({"InstanceCount"})) reading_.job["instance_count"] = json_of(count);
    if (const auto* type = cluster.take({"InstanceType"})) reading_.job["instance_type"] = json_of(type);
    read_volume(cluster, reading_);
    refuse_fields(cluster, {{"VolumeKmsKeyId", "nothing leaves this machine; encrypt the disk"}});
    cluster.refuse_rest();
  }

  TableReader& request_;
  RequestReading& reading_;
  std::vector<KnownPlace> places_;
};

}  // namespace

void read_processing(TableReader& request, RequestReading& reading) {
  ProcessingReader(request, reading).read();
}

}  // namespace trainwarden::sagemaker
