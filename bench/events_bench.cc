// How often one event is matched against 1,000 patterns, from its text, on one core: through the automaton, and one
// pattern after the other. In processor time of the thread, so that what else the machine does counts little.
#include <fmt/format.h>

#include <array>
#include <ctime>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench.h"
#include "react/match/json_scanner.h"
#include "react/match/matcher.h"
#include "react/match/reference_matcher.h"

namespace trainwarden::bench {
namespace {

constexpr std::size_t kPatterns = 1000;
constexpr int kRounds = 15;
constexpr int kMatches = 2000;  // in a round

// A training's state change as EventBridge sends it, with the statuses of six rules.
constexpr std::string_view kEvent = R"({
"version":"0","id":"7bf73129-1428-4cd3-a780-95db273d1602","detail-type":"SageMaker Training Job State Change",
"source":"aws.sagemaker","account":"000000000000","time":"2026-11-20T03:12:00Z","region":"local",
"resources":["arn:aws:sagemaker:local:000000000000:training-job/resnet-17"],
"detail":{"TrainingJobName":"resnet-17","TrainingJobArn":"arn:aws:sagemaker:local:000000000000:training-job/resnet-17",
"TrainingJobStatus":"InProgress","SecondaryStatus":"Training","HyperParameters":{"lr":"10.0","batch_size":"64"},
"AlgorithmSpecification":{"TrainingImage":"pytorch:2.1","TrainingInputMode":"File"},"RoleArn":"arn:aws:iam::0:role/t",
"InputDataConfig":[{"ChannelName":"train","DataSource":{"S3DataSource":{"S3DataType":"S3Prefix",
"S3Uri":"s3://data/train","S3DataDistributionType":"FullyReplicated"}}}],"OutputDataConfig":{"S3OutputPath":"s3://o"},
"ResourceConfig":{"InstanceType":"local.gpu","InstanceCount":4,"VolumeSizeInGB":30},"VpcConfig":{},
"StoppingCondition":{"MaxRuntimeInSeconds":3600},"CreationTime":"1795144388000","TrainingStartTime":"1795144390000",
"LastModifiedTime":"1795144400000","SecondaryStatusTransitions":[
{"Status":"Starting","StartTime":1795144388000,"EndTime":1795144390000,"StatusMessage":"Preparing the workers"},
{"Status":"Training","StartTime":1795144390000,"StatusMessage":"Training in progress"}],
"DebugRuleEvaluationStatuses":[
{"RuleConfigurationName":"VanishingGradient","RuleEvaluationStatus":"InProgress","LastModifiedTime":1795144400000},
{"RuleConfigurationName":"LossNotDecreasing","RuleEvaluationStatus":"IssuesFound","LastModifiedTime":1795144400000},
{"RuleConfigurationName":"ExplodingTensor","RuleEvaluationStatus":"NoIssuesFound","LastModifiedTime":1795144399000},
{"RuleConfigurationName":"Overfit","RuleEvaluationStatus":"InProgress","LastModifiedTime":1795144391000},
{"RuleConfigurationName":"DeadRelu","RuleEvaluationStatus":"InProgress","LastModifiedTime":1795144391000},
{"RuleConfigurationName":"WeightUpdateRatio","RuleEvaluationStatus":"Error","LastModifiedTime":1795144391000}],
"NodeAddress":"10.0.3.17","seq":42,"change":{"kind":"rule","rule":"LossNotDecreasing","from":"InProgress",
"to":"IssuesFound"},"Tags":{"team":"vision","owner":"anna"}}})";

// Patterns as subscribers write them.
class PatternMaker {
 public:
  std::string next() {
    std::string detail = condition();
    for (std::size_t more = pick(3); more > 0; --more) {
      const std::string other = condition();
      const auto name_of = [](const std::string& text) { return text.substr(0, text.find(':')); };
      if (detail.find(name_of(other)) == std::string::npos) detail += "," + other;
    }
    const std::string head = pick(4) == 0 ? R"("source":["aws.sagemaker"],)" : R"("source":[{"prefix":"aws."}],)";
    return fmt::format(R"({{{}"detail-type":["SageMaker Training Job State Change"],"detail":{{{}}}}})", head, detail);
  }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }
  template <std::size_t N>
  std::string_view one_of(const std::array<std::string_view, N>& choices) {
    return choices[pick(N)];
  }
  std::string_view model() { return one_of<6>({"resnet", "bert", "gpt", "vit", "unet", "dlrm"}); }
  std::string_view rule() {
    return one_of<8>({"VanishingGradient", "LossNotDecreasing", "ExplodingTensor", "Overfit", "DeadRelu", "Saturation",
                      "WeightUpdateRatio", "ClassImbalance"});
  }
  std::string_view status() { return one_of<5>({"InProgress", "IssuesFound", "NoIssuesFound", "Error", "Stopped"}); }
  std::size_t number() { return pick(100); }

  std::string condition() {
    switch (pick(16)) {
      case 0: return fmt::format(R"("TrainingJobName":["{}-{}","{}-{}"])", model(), number(), model(), number());
      case 1: return fmt::format(R"("TrainingJobName":[{{"prefix":"{}-{}"}}])", model(), pick(10));
      case 2: return fmt::format(R"("TrainingJobArn":[{{"suffix":"/{}-{}"}}])", model(), number());
      case 3: return fmt::format(R"("TrainingJobArn":[{{"wildcard":"*:training-job/{}-*{}"}}])", model(), pick(10));
      case 4: return fmt::format(R"("TrainingJobStatus":["Failed","Stopped","{}"])", status());
      case 5: return fmt::format(R"("SecondaryStatus":[{{"anything-but":["Training","{}"]}}])", model());
      case 6: return fmt::format(R"("ResourceConfig":{{"InstanceCount":[{{"numeric":[">",{}]}}]}})", pick(20));
      case 7: return fmt::format(R"("seq":[{{"numeric":[">=",{},"<",{}]}}])", number(), 100 + number());
      case 8: return R"("FailureReason":[{"exists":false}])";
      case 9: return fmt::format(R"("NodeAddress":[{{"cidr":"10.0.{}.0/24"}}])", pick(16));
      case 10: return fmt::format(R"("Tags":{{"owner":[{{"equals-ignore-case":"{}{}"}}]}})", model(), pick(30));
      case 11:
        return fmt::format(R"("$or":[{{"HyperParameters":{{"lr":["{}.0"]}}}},{{"change":{{"to":["{}"]}}}}])", pick(20),
                           status());
      case 12: return fmt::format(R"("change":{{"rule":["{}"],"to":["{}"]}})", rule(), status());
      default:
        return fmt::format(R"("DebugRuleEvaluationStatuses":{{"RuleConfigurationName":["{}",{{"prefix":"{}"}}],)"
                           R"("RuleEvaluationStatus":["{}"]}})",
                           rule(), rule().substr(0, 3 + pick(4)), status());
    }
  }

  std::mt19937 random_{1};
};

// Of one call, on average.
template <class Call>
double processor_ns(int calls, Call&& call) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  for (int i = 0; i < calls; ++i) call();
  return (now() - begin) / calls;
}

Result<std::vector<Figure>> match_per_s() {
  std::set<std::string> texts;
  for (PatternMaker maker; texts.size() < kPatterns;) texts.insert(maker.next());

  match::MatcherBuilder builder;
  std::vector<std::vector<match::reference::AllOf>> one_by_one;
  std::vector<match::Matcher> one_each;
  for (const std::string& text : texts) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto pattern, match::Pattern::parse(text));
    builder.add(pattern);
    match::MatcherBuilder alone;
    alone.add(pattern);
    one_each.push_back(alone.build());
    one_by_one.push_back(match::reference::alternatives(nlohmann::json::parse(text), {}));
  }
  const match::Matcher matcher = builder.build();
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto matched, matcher.match(kEvent));
  const auto match_one_by_one = [&] {
    const auto values = match::reference::flatten(nlohmann::json::parse(kEvent));
    std::size_t count = 0;
    for (const auto& pattern : one_by_one) count += match::reference::matches(pattern, values) ? 1 : 0;
    return count;
  };
  if (match_one_by_one() != matched.size()) return Status(Code::kInternal, "the two matchers disagree");

  constexpr std::size_t kAutomaton = 0, kOneByOne = 1, kReading = 2, kOneEach = 3;
  const PairedRuns runs = measure_interleaved(
      kRounds, std::vector<std::function<double()>>{
                   [&] { return processor_ns(kMatches, [&] { keep(matcher.match(kEvent)); }); },
                   [&] { return processor_ns(2, [&] { keep(match_one_by_one()); }); },
                   [&] { return processor_ns(kMatches, [&] { keep(match::JsonScanner(kEvent).skip_value()); }); },
                   [&] {
                     return processor_ns(2, [&] {
                       for (const match::Matcher& one : one_each) keep(one.match(kEvent));
                     });
                   },
               });
  const auto per_second = [&](std::size_t arm) {
    const Spread ns = runs.ns(arm);
    return Spread{1e9 / ns.high, 1e9 / ns.median, 1e9 / ns.low};
  };
  const std::string what =
      fmt::format("{} patterns, of which {} match, an event of {} bytes", kPatterns, matched.size(), kEvent.size());
  const std::string name = "events.match_per_s";
  return std::vector<Figure>{
      {name, per_second(kAutomaton), "1/s", at_least(100'000),
       what + "; reading the text, then the facts that hold in it, in a table of some hundred KiB"},
      {name + ".vs_one_by_one", runs.ratio(kOneByOne, kAutomaton), "ratio", Goal{},
       "the rival reads the event into a tree once and goes through it pattern by pattern"},
      {name + ".one_by_one", per_second(kOneByOne), "1/s", Goal{}, "each pattern asks for each of its fields anew"},
      {name + ".vs_one_automaton_each", runs.ratio(kOneEach, kAutomaton), "ratio", Goal{},
       "the same automaton for each pattern alone: each reads the event anew"},
      {name + ".reading_alone", per_second(kReading), "1/s", Goal{},
       "the event read strictly and nothing done with it: what the first figure cannot exceed"},
      {name + ".share_of_reading", runs.ratio(kReading, kAutomaton), "ratio", Goal{}, "reading within matching"},
  };
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"events.match_per_s", match_per_s}};
}

}  // namespace trainwarden::bench
