#include "work/sagemaker/request_files.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "data/format/json.h"

namespace trainwarden::sagemaker {
namespace {

namespace fs = std::filesystem;
using format::Json;

class Request : public testing::Test {
 protected:
  Request() {
    fs::create_directories(folder_.path() / "src");
    std::ofstream(folder_.path() / "train.py") << "print()";
  }
  Result<RequestFiles> read(const Json& fields = Json::object()) {
    Json request = {{"TrainingJobName", "bert-7"}, {"HyperParameters", {{"sagemaker_program", "train.py"}}}};
    request.update(fields);
    return files_of_request(request.dump(), places_);
  }
  Json job(const Json& fields = Json::object()) {
    const auto files = read(fields);
    EXPECT_TRUE(files.ok()) << files.status().to_string();
    return files.ok() ? Json::parse(files->texts.at(kJobFile)) : Json();
  }
  std::string mistake(const Json& fields = Json::object()) {
    const auto files = read(fields);
    EXPECT_FALSE(files.ok()) << fields.dump();
    EXPECT_EQ(files.status().code(), Code::kInvalidArgument);
    return files.status().message();
  }
  // A rule with these parameters.
  static Json rule(const Json& parameters) {
    return {{"DebugRuleConfigurations", {{{"RuleConfigurationName", "mine"}, {"RuleParameters", parameters}}}}};
  }

  TestFolder folder_;
  std::map<std::string, std::string> variables_;
  RequestPlaces places_{folder_.path(), "/jobs", "sagemaker-1", "", 0, [this](const char* name) -> const char* {
                          const auto found = variables_.find(name);
                          return found == variables_.end() ? nullptr : found->second.c_str();
                        }};
};

TEST_F(Request, HyperParametersAreReadAsTheClientWroteThem) {
  const Json values = {{"sagemaker_program", "\"train.py\""},
                       {"lr", "0.1"},
                       {"flag", "true"},
                       {"text", "\"10.00\""},
                       {"plain", "a b"},
                       {"list", "[1, 2]"},
                       {"wide", "-Infinity"},
                       {"none", "NaN"},
                       {"trick", "1, \"other\": 2"},
                       {"open", "1}"},
                       {"empty", ""}};
  const Json found = job({{"HyperParameters", values}});
  EXPECT_EQ(found.at("hyperparameters"), (Json{{"lr", 0.1},
                                               {"flag", true},
                                               {"text", "10.00"},
                                               {"plain", "a b"},
                                               {"list", {1, 2}},
                                               {"wide", "-inf"},
                                               {"none", "nan"},
                                               {"trick", "1, \"other\": 2"},
                                               {"open", "1}"},
                                               {"empty", ""}}));
  EXPECT_NE(mistake({{"HyperParameters", {{"lr", 0.1}}}}).find("expected texts, found a number"), std::string::npos);
}

TEST_F(Request, AScriptComesAloneOrInItsFolder) {
  EXPECT_EQ(job().at("source_dir"), "/jobs/bert-7/sagemaker-1/code");
  EXPECT_EQ(read()->script, (folder_.path() / "train.py").string());
  const Json in_folder = {{"HyperParameters",
                           {{"sagemaker_program", "a/b.py"},
                            {"sagemaker_submit_directory", "src"},
                            {"sagemaker_dependencies", "[\"/more\"]"}}}};
  EXPECT_EQ(job(in_folder).at("source_dir"), (folder_.path() / "src").string());
  EXPECT_EQ(job(in_folder).at("entry_point"), "a/b.py");
  EXPECT_EQ(job(in_folder).at("dependencies"), Json({"/more"}));
  EXPECT_TRUE(read(in_folder)->script.empty());
  EXPECT_NE(mistake({{"HyperParameters", Json::object()}}).find("sagemaker_program"), std::string::npos);
  EXPECT_NE(mistake({{"HyperParameters", {{"sagemaker_program", "none.py"}}}}).find("there is no file"),
            std::string::npos);
}

TEST_F(Request, AProgramOfAnImageNeedsNoScript) {
  const Json found = job({{"HyperParameters", {{"lr", "1"}}},
                          {"AlgorithmSpecification",
                           {{"TrainingImage", "example.com/image"},
                            {"TrainingInputMode", "File"},
                            {"ContainerEntrypoint", {"python3", "-m", "train"}},
                            {"ContainerArguments", {"--fast"}},
                            {"MetricDefinitions", {{{"Name", "loss"}, {"Regex", "loss: (.*)"}}}}}}});
  EXPECT_EQ(found.at("program"), Json({"python3", "-m", "train"}));
  EXPECT_EQ(found.at("arguments"), Json({"--fast"}));
  EXPECT_EQ(found.at("image"), "example.com/image");
  EXPECT_EQ(found.at("metric_definitions").at(0).at("Regex"), "loss: (.*)");
  EXPECT_FALSE(found.contains("entry_point"));
}

TEST_F(Request, DataResourcesLimitsAndRecordsBecomeTheJobs) {
  const Json source = {{"S3DataType", "S3Prefix"}, {"S3Uri", "data"}, {"S3DataDistributionType", "ShardedByS3Key"}};
  const Json found =
      job({{"InputDataConfig",
            {{{"ChannelName", "train"}, {"DataSource", {{"S3DataSource", source}}}, {"ContentType", "text/csv"}}}},
           {"AlgorithmSpecification", {{"TrainingInputMode", "FastFile"}}},
           {"OutputDataConfig", {{"S3OutputPath", "s3://mine/results"}, {"KmsKeyId", ""}}},
           {"CheckpointConfig", {{"S3Uri", "file://kept"}, {"LocalPath", "/opt/ml/checkpoints"}}},
           {"ResourceConfig", {{"InstanceCount", 2}, {"InstanceType", "ml.x"}, {"VolumeSizeInGB", 5}}},
           {"Trainwarden", {{"cpus", 2}, {"gpus", 1}}},
           {"StoppingCondition", {{"MaxRuntimeInSeconds", 60}, {"MaxWaitTimeInSeconds", 90}}},
           {"RetryStrategy", {{"MaximumRetryAttempts", 3}}},
           {"EnableManagedSpotTraining", true},
           {"EnableNetworkIsolation", false},
           {"Environment", {{"COLOUR", "red"}}},
           {"Tags", {{{"Key", "team"}, {"Value", "a"}}}},
           {"RoleArn", "me"},
           {"ExperimentConfig", {{"ExperimentName", "first"}}}});
  const Json& train = found.at("inputs").at("train");
  EXPECT_EQ(train, (Json{{"source", (folder_.path() / "data").string()},
                         {"distribution", "ShardedByS3Key"},
                         {"mode", "FastFile"},
                         {"content_type", "text/csv"}}));
  EXPECT_EQ(found.at("output_dir"), "s3://mine/results");
  EXPECT_EQ(found.at("checkpoint_s3_uri"), "file://" + (folder_.path() / "kept").string());
  const Json fields = {{"checkpoint_local_path", "/opt/ml/checkpoints"},
                       {"instance_count", 2},
                       {"instance_type", "ml.x"},
                       {"volume_size", 5},
                       {"cpus", 2},
                       {"gpus", 1},
                       {"max_run", 60},
                       {"max_wait", 90},
                       {"max_retry_attempts", 3},
                       {"use_spot_instances", true},
                       {"hook", false}};
  for (const auto& [key, value] : fields.items()) {
    EXPECT_EQ(found.at(key), value) << key;
  }
  EXPECT_EQ(found.at("environment").at("COLOUR"), "red");
  EXPECT_EQ(found.at("tags").at(0).at("Value"), "a");
  EXPECT_EQ(found.at("experiment_config").at("ExperimentName"), "first");
  EXPECT_FALSE(found.contains("isolated_network"));
}

TEST_F(Request, ADiskThatIsTooSmallIsSaidAndNoMore) {
  places_.free_disk_bytes = std::uint64_t{3} << 30;
  const auto files = read({{"ResourceConfig", {{"VolumeSizeInGB", 5}}}});
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(files->notices.size(), 1u);
  EXPECT_FALSE(Json::parse(files->texts.at(kJobFile)).contains("volume_size"));
  EXPECT_TRUE(read({{"ResourceConfig", {{"VolumeSizeInGB", 3}}}})->notices.empty());
}

TEST_F(Request, WhatIsCapturedJudgedAndExported) {
  Json fields = rule({{"rule_to_invoke", "DeadRelu"}, {"tensor_regex", "a,\"b\""}, {"action_json", ""}});
  fields["DebugHookConfig"] = {{"S3OutputPath", "tensors"}, {"HookParameters", {{"save_interval", "10"}}}};
  fields["TensorBoardOutputConfig"] = {{"S3OutputPath", "boards"}};
  fields["ProfilerConfig"] = {{"ProfilingIntervalInMilliseconds", 500}, {"S3OutputPath", "profiles"}};
  fields["ProfilerRuleConfigurations"] = rule({{"rule_to_invoke", "InputBound"}}).at("DebugRuleConfigurations");
  const auto files = read(fields);
  ASSERT_TRUE(files.ok()) << files.status().to_string();
  const Json found = Json::parse(files->texts.at(kJobFile));
  EXPECT_EQ(found.at("rules"), Json({"DeadRelu:tensor_regex=\"a,\\\"b\\\"\"", "InputBound"}));
  EXPECT_EQ(found.at("hook"), "hook.json");
  EXPECT_EQ(Json::parse(files->texts.at("hook.json")), (Json{{"HookParameters", {{"save_interval", "10"}}}}));
  EXPECT_EQ(files->captured, (folder_.path() / "tensors").string());
  EXPECT_EQ(Json::parse(files->texts.at("tensorboard.json")).at("LocalPath"), (folder_.path() / "boards").string());
  EXPECT_EQ(found.at("environment").at("TENSORBOARD_CONFIG_FILE_PATH"), "/jobs/bert-7/sagemaker-1/tensorboard.json");
  EXPECT_EQ(files->notices.size(), 1u) << "where the profile is";
  EXPECT_EQ(Json::parse(files->texts.at("profilerconfig.json")), (Json{{"ProfilingIntervalInMilliseconds", 500}}));
  EXPECT_EQ(found.at("environment").at("SMPROFILER_CONFIG_PATH"), "/jobs/bert-7/sagemaker-1/profilerconfig.json");
  EXPECT_EQ(read(Json::object())->texts.at("profilerconfig.json"), "{}\n") << "for what the job may be told later";
  EXPECT_FALSE(files->texts.contains("actions.toml"));
  EXPECT_EQ(Json::parse(files->texts.at("request.json")).at("TrainingJobName"), "bert-7");
}

TEST_F(Request, ARuleOfOnesOwnIsInItsFile) {
  const Json found = job(rule({{"rule_to_invoke", "Mine"}, {"source_s3_uri", "rules.py"}, {"other_trials", "runs/a"}}));
  EXPECT_EQ(found.at("rules").at(0), (folder_.path() / "rules.py").string() + ":Mine:other_trials=\"" +
                                         (folder_.path() / "runs/a").string() + "\"");
}

TEST_F(Request, ActionsOfRulesAreAFile) {
  const auto text = [&](const char* actions) {
    const auto files = read(rule({{"rule_to_invoke", "DeadRelu"}, {"action_json", actions}}));
    return files.ok() ? files->texts.at("actions.toml") : files.status().message();
  };
  EXPECT_EQ(text(R"([{"name": "StopTraining", "training_job_prefix": "bert-7"}])"),
            "[[on]]\nrule = \"DeadRelu\"\ndo = \"stop\"\nthen = \"kill\"\n");
  EXPECT_NE(text(R"([{"name": "stoptraining", "training_job_prefix": "other"}])").find("its own training"),
            std::string::npos);
  const char* const mail = R"([{"name": "email", "endpoint": "me@example.com"}])";
  EXPECT_NE(text(mail).find("set TRAINWARDEN_SMTP_HOST"), std::string::npos);
  variables_ = {{"TRAINWARDEN_SMTP_HOST", "mail\"\x7f"},
                {"TRAINWARDEN_SMTP_PORT", "25"},
                {"TRAINWARDEN_SMTP_PASSWORD", "secret"},
                {"TRAINWARDEN_SMS_URL", "https://secret"},
                {"TRAINWARDEN_SMS_ALLOW_HTTP", "1"}};
  EXPECT_EQ(text(mail),
            "[[on]]\nrule = \"DeadRelu\"\ndo = \"mail\"\nto = \"me@example.com\"\ncool_down = \"1h\"\n"
            "host = \"mail\\\"\\u007f\"\nport = 25\npassword = { env = \"TRAINWARDEN_SMTP_PASSWORD\" }\n");
  const std::string sms = text(R"([{"name": "sms", "endpoint": "+1555"}])");
  EXPECT_NE(sms.find("url = { env = \"TRAINWARDEN_SMS_URL\" }"), std::string::npos);
  EXPECT_NE(sms.find("allow_http = true"), std::string::npos);
  EXPECT_EQ(sms.find("secret"), std::string::npos);
  variables_["TRAINWARDEN_SMTP_PORT"] = "a\n[[on]]";
  EXPECT_NE(text(mail).find("expected a number"), std::string::npos);
  for (const char* wrong : {"{}", "[1]", "[{}]", R"([{"name": "email"}])", R"([{"name": "call", "endpoint": "a"}])"}) {
    EXPECT_NE(text(wrong).find("action_json"), std::string::npos) << wrong;
  }
}

TEST_F(Request, WhatIsNotKnownOrOnlyTheCloudHasIsAnErrorAtOnce) {
  const std::string all = mistake({{"ResourceConfig", {{"InstanceCnt", 1}}},
                                   {"VpcConfig", {{"Subnets", {"a"}}}},
                                   {"StopingCondition", Json::object()},
                                   {"EnableInterContainerTrafficEncryption", true},
                                   {"OutputDataConfig", {{"KmsKeyId", "a"}, {"CompressionType", "NONE"}}},
                                   {"Environment", {{"A", "1"}}},
                                   {"DebugHookConfig", {{"LocalPath", "/opt/ml"}}}});
  for (const char* word : {"InstanceCnt", "VpcConfig", "StopingCondition", "did you mean", "EnableInterContainer",
                           "KmsKeyId", "CompressionType", "LocalPath"}) {
    EXPECT_NE(all.find(word), std::string::npos) << word << " in " << all;
  }
  for (const Json& wrong :
       {Json{{"TrainingJobName", "../a"}}, Json{{"TrainingJobName", ""}}, Json{{"TrainingJobName", 5}},
        Json{{"InputDataConfig", {{{"ChannelName", "a"}}}}}, Json{{"InputDataConfig", {1}}},
        Json{{"InputDataConfig", {{"a", 1}}}}, Json{{"DebugRuleConfigurations", {1}}}, Json{{"Tag", "a"}},
        Json{{"DebugRuleConfigurations", {{{"RuleConfigurationName", "a"}}}}},
        rule({{"rule_to_invoke", "A"}, {"x", 1}}), Json{{"StoppingCondition", {{"MaxRunTime", 1}}}},
        Json{{"TensorBoardOutputConfig", Json::object()}}, Json{{"HyperParameters", {{"sagemaker_program", "1"}}}}}) {
    EXPECT_FALSE(mistake(wrong).empty());
  }
  EXPECT_FALSE(files_of_request("[]", places_).ok());
  EXPECT_FALSE(files_of_request("name = \"a\"", places_).ok());
  EXPECT_FALSE(files_of_request(std::string(100'000, '['), places_).ok());
}

class ProcessingRequest : public Request {
 protected:
  Result<RequestFiles> read_step(const Json& fields = Json::object()) {
    const Json input = {{"S3Uri", "prepare.py"}, {"LocalPath", "/opt/ml/processing/input/code"}};
    const Json output = {{"S3Uri", "out"}, {"LocalPath", "/opt/ml/processing/train/"}, {"S3UploadMode", "EndOfJob"}};
    Json request = {{"ProcessingJobName", "prepare-1"},
                    {"AppSpecification",
                     {{"ContainerEntrypoint", {"python3", "/opt/ml/processing/input/code/prepare.py"}},
                      {"ContainerArguments",
                       {"--out", "/opt/ml/processing/train/a", "--log=/opt/ml/processing/train",
                        "/opt/ml/processing/training", "/opt/ml"}}}},
                    {"ProcessingInputs", {{{"InputName", "code"}, {"S3Input", input}}}},
                    {"ProcessingOutputConfig", {{"Outputs", {{{"OutputName", "train"}, {"S3Output", output}}}}}},
                    {"Environment", {{"OUT", "/opt/ml/processing/train"}, {"PLAIN", "a"}}},
                    {"RoleArn", "me"}};
    request.update(fields);
    return files_of_request(request.dump(), places_);
  }
};

TEST_F(ProcessingRequest, AStepFindsItsFoldersWhereverItsCommandNamesThem) {
  const auto files = read_step({{"StoppingCondition", {{"MaxRuntimeInSeconds", 60}}},
                                {"ProcessingResources", {{"ClusterConfig", {{"InstanceCount", 1}}}}}});
  ASSERT_TRUE(files.ok()) << files.status().to_string();
  const Json found = Json::parse(files->texts.at(kJobFile));
  const std::string out = (folder_.path() / "out").string();
  EXPECT_EQ(found.at("program").at(1), "/jobs/prepare-1/ml/input/data/code/prepare.py");
  EXPECT_EQ(found.at("arguments"),
            Json({"--out", out + "/a", "--log=" + out, "/opt/ml/processing/training", "/opt/ml"}));
  EXPECT_EQ(found.at("environment"), (Json{{"OUT", out}, {"PLAIN", "a"}}));
  EXPECT_EQ(found.at("inputs").at("code").at("source"), (folder_.path() / "prepare.py").string());
  EXPECT_EQ(found.at("hook"), false);
  EXPECT_EQ(found.at("max_run"), 60);
  EXPECT_EQ(files->outputs.at("train"), out);
}

TEST_F(ProcessingRequest, WhatAStepCannotDoIsAnError) {
  const Json output = {{"S3Uri", "out"}};
  const auto outputs = [](const Json& list) { return Json{{"ProcessingOutputConfig", {{"Outputs", list}}}}; };
  for (const Json& wrong :
       {Json{{"AppSpecification", {{"ImageUri", "a"}, {"ContainerEntrypoint", {"b"}}}}},
        Json{{"AppSpecification", Json::object()}}, Json{{"ProcessingInputs", {1}}}, Json{{"HyperParameters", {}}},
        Json{{"ProcessingInputs", {{{"InputName", "a"}}}}}, Json{{"NetworkConfig", {{"VpcConfig", {{"a", 1}}}}}},
        Json{{"ProcessingInputs", {{{"InputName", "a"}, {"S3Input", {{"S3Uri", "x"}, {"S3InputMode", "Pipe"}}}}}}},
        outputs({{{"OutputName", "a"}, {"FeatureStoreOutput", {{"FeatureGroupName", "a"}}}}}),
        outputs({{{"OutputName", "a"}, {"S3Output", output}}, {{"OutputName", "a"}, {"S3Output", output}}}),
        outputs({{{"OutputName", "a"}, {"S3Output", {{"S3Uri", "ftp://x"}, {"Mode", 1}}}}})}) {
    EXPECT_FALSE(read_step(wrong).ok()) << wrong.dump();
  }
}

TEST_F(Request, TheNameThatIsGivenCounts) {
  places_.job = "other-1";
  EXPECT_EQ(read()->name, "other-1");
  EXPECT_EQ(read()->folder, "/jobs/other-1/sagemaker-1");
  places_.job = "../x";
  EXPECT_NE(mistake().find("../x"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::sagemaker
