// What the addresses of jobs answer.
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "core/base/folder_testing.h"
#include "data/format/json.h"
#include "read/trial/run_testing.h"
#include "ui/answers/router.h"
#include "ui/work_answers/job_downloads.h"
#include "ui/work_answers/work_desk.h"
#include "work/jobs/job_rules.h"
#include "work/jobs/owner_seal.h"

namespace trainwarden::work_answers {
namespace {

namespace fs = std::filesystem;
using answers::Method;
using format::Json;
using jobs::JobPhase;

constexpr const char* kSpec = R"(
name = "bert-7"
program = "./train"
output_dir = "results"
[hyperparameters]
epochs = 3
optimizer = "adam"
api_key = "sk-live-0123456789abcdefghij"
[checkpoints]
path = "kept"
)";

class JobRoutesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_.path() / "runs");
    auto shelf = views::Shelf::open(folder_.path() / "runs");
    ASSERT_TRUE(shelf.ok());
    shelf_ = *std::move(shelf);
    JobActions actions;
    actions.settling = [] { return [](jobs::JobRecord& job) { return job.settle(system_clock()); }; };
    actions.stop = [this](jobs::JobRecord& job, const std::string& message) {
      asked_.push_back("stop " + job.order().name + ": " + message);
      return job.request_stop("user", message, system_clock());
    };
    actions.resume = [this](jobs::JobRecord& job, const std::string& message) {
      asked_.push_back("resume " + job.order().name + ": " + message);
      return job.resume(message, system_clock());
    };
    desk_ = std::make_unique<WorkDesk>(
        WorkPlaces{folder_.path() / "jobs", folder_.path() / "catalogue", folder_.path() / "experiments",
                   folder_.path() / "catalogue", folder_.path() / "studies"},
        std::move(actions));
    router_ = std::make_unique<answers::Router>(job_routes(*desk_));
  }

  jobs::JobRecord submit(const std::string& name, const std::vector<JobPhase>& way = {}) const {
    jobs::JobOrder order;
    order.name = name;
    order.submitted_unix_ns = system_clock().unix_ns();
    order.host = "elsewhere";
    order.program = {"./train", "--epochs", "3"};
    order.folder = folder_.path();
    order.run = folder_.path() / "runs" / name;
    order.spec = kSpec;
    order.spec_file = folder_.path() / "job.toml";
    order.seal = jobs::owner_seal(jobs::encode_order(order), folder_.path() / "jobs").value_or("");
    auto job = jobs::JobRecord::create(folder_.path() / "jobs", order);
    EXPECT_TRUE(job.ok()) << job.status().to_string();
    for (const JobPhase next : way) {
      EXPECT_TRUE(job->advance(*job->current(), next, "test", "", system_clock()).ok());
    }
    return *job;
  }

  Result<answers::Reply> reply(const std::string& address, const std::string& body = "") const {
    const std::size_t mark = std::min(address.find('?'), address.size());
    const std::string query = mark < address.size() ? address.substr(mark + 1) : "";
    auto match = router_->match(body.empty() ? Method::kGet : Method::kPost, address.substr(0, mark), query);
    if (!match.ok()) return match.status();
    match->request.body = body;
    return match->route->handler(match->request, answers::Services{*shelf_});
  }
  Json ask(const std::string& address, const std::string& body = "") const {
    const auto answer = reply(address, body);
    EXPECT_TRUE(answer.ok()) << address << ": " << answer.status().to_string();
    return answer.ok() ? Json::parse(*answer->body) : Json();
  }
  Code code_of(const std::string& address, const std::string& body = "") const {
    return reply(address, body).status().code();
  }
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((folder_.path() / file).parent_path());
    std::ofstream(folder_.path() / file) << text;
  }

  const TestFolder folder_;
  std::vector<std::string> asked_;
  std::unique_ptr<views::Shelf> shelf_;
  std::unique_ptr<WorkDesk> desk_;
  std::unique_ptr<answers::Router> router_;
};

TEST_F(JobRoutesTest, ThereAreNoJobsBeforeThereIsAFolder) {
  const Json answer = ask("/jobs");
  EXPECT_EQ(answer.at("jobs").size(), 0U);
  EXPECT_NE(answer.at("folder").get<std::string>().find("jobs"), std::string::npos);
  EXPECT_EQ(code_of("/jobs/bert-7"), Code::kNotFound);
}

TEST_F(JobRoutesTest, TheListHasStandingAndHyperparameters) {
  submit("bert-7", {JobPhase::kStarting, JobPhase::kFailed});
  const Json row = ask("/jobs").at("jobs").at(0);
  EXPECT_EQ(row.at("name"), "bert-7");
  EXPECT_EQ(row.at("status"), "Failed");
  EXPECT_EQ(row.at("secondary_status"), "Failed");
  EXPECT_EQ(row.at("hyperparameters").at("epochs"), 3);
  EXPECT_EQ(row.at("hyperparameters").at("optimizer"), "adam");
  EXPECT_EQ(row.at("hyperparameters").at("api_key"), "****");
  EXPECT_GT(row.at("submitted_unix_ms").get<std::int64_t>(), 1'600'000'000'000);
}

TEST_F(JobRoutesTest, TheListHasWhatJobsMeasureAndHowLongTheyRan) {
  submit("bert-7", {JobPhase::kStarting, JobPhase::kTraining, JobPhase::kFailed});
  submit("waits");
  TestRun run;
  run.sample({.name = "loss", .source = MetricSource::kRank}, {2, 0.5, 1}, 1000);
  run.sample({.name = "odd", .source = MetricSource::kRank}, {std::nan("")}, 1000);
  run.end();
  run.save_to(folder_.path() / "runs" / "bert-7");
  const Json answer = ask("/jobs");
  EXPECT_EQ(answer.at("reading"), 0);
  const Json row = answer.at("jobs").at(1);
  EXPECT_EQ(row.at("name"), "bert-7");
  EXPECT_EQ(row.at("metrics").at("loss"), Json::parse(R"({"last": 1.0, "min": 0.5, "max": 2.0})"));
  EXPECT_EQ(row.at("metrics").at("odd"), Json::parse(R"({"last": "NaN", "min": null, "max": null})"));
  EXPECT_GE(row.at("ran_ms").get<std::int64_t>(), 0);
  EXPECT_LT(row.at("ran_ms").get<std::int64_t>(), 60'000);
  EXPECT_EQ(answer.at("jobs").at(0).at("metrics"), Json::object());
}

TEST_F(JobRoutesTest, ADamagedJobIsARowOfItsOwn) {
  write("jobs/broken/job.json", "{");
  submit("bert-7");
  const Json rows = ask("/jobs").at("jobs");
  ASSERT_EQ(rows.size(), 2U);
  const Json& broken = rows.at(0).at("name") == "broken" ? rows.at(0) : rows.at(1);
  EXPECT_NE(broken.at("error").get<std::string>(), "");
  EXPECT_EQ(code_of("/jobs/broken"), Code::kDataLoss);
}

TEST_F(JobRoutesTest, OneJobTellsHowItCameHereAndWhatItRuns) {
  submit("bert-7", {JobPhase::kStarting, JobPhase::kTraining, JobPhase::kUploading, JobPhase::kCompleted});
  const Json job = ask("/jobs/bert-7");
  EXPECT_EQ(job.at("status"), "Completed");
  EXPECT_EQ(job.at("attempt"), 1);
  EXPECT_EQ(job.at("transitions").size(), 5U);
  EXPECT_EQ(job.at("transitions").at(2).at("secondary_status"), "Training");
  EXPECT_EQ(job.at("run").at("name"), "bert-7");
  EXPECT_EQ(job.at("run").at("id"), views::run_id_of("bert-7"));
  EXPECT_EQ(job.at("program"), Json({"./train", "--epochs", "3"}));
  EXPECT_FALSE(job.at("can_stop"));
  EXPECT_FALSE(job.at("can_resume"));
  const std::string spec = job.at("spec");
  EXPECT_NE(spec.find("optimizer = \"adam\""), std::string::npos);
  EXPECT_EQ(spec.find("0123456789"), std::string::npos) << "a key is shown: " << spec;
}

TEST_F(JobRoutesTest, ARunInAnotherFolderHasNoId) {
  write("other/here", "");
  jobs::JobOrder order;
  order.name = "away";
  order.program = {"true"};
  order.run = folder_.path() / "other" / "away";
  ASSERT_TRUE(jobs::JobRecord::create(folder_.path() / "jobs", order).ok());
  EXPECT_EQ(ask("/jobs/away").at("run").at("id"), nullptr);
}

TEST_F(JobRoutesTest, LogsComeInPieces) {
  submit("bert-7");
  write("jobs/bert-7/output.log", std::string(100, 'a') + "\nend\n");
  EXPECT_EQ(ask("/jobs/bert-7").at("logs").at(0).at("id"), "output");
  const Json end = ask("/jobs/bert-7/logs/output?limit=64");
  EXPECT_EQ(end.at("text"), "end\n");
  EXPECT_EQ(end.at("to"), 105);
  EXPECT_EQ(ask("/jobs/bert-7/logs/output?from=105").at("text"), "");
  EXPECT_EQ(code_of("/jobs/bert-7/logs/output?limit=1"), Code::kInvalidArgument);
  EXPECT_EQ(code_of("/jobs/bert-7/logs/output?from=-1"), Code::kInvalidArgument);
  EXPECT_EQ(code_of("/jobs/bert-7/logs/rank-0"), Code::kNotFound);
}

TEST_F(JobRoutesTest, RulesHaveTheirStatusAndLeadToTheirLogs) {
  submit("bert-7");
  EXPECT_TRUE(ask("/jobs/bert-7").at("rules").empty());
  jobs::JobRule rule;
  rule.id = "my rule";
  rule.status = "IssuesFound";
  rule.step = 5;
  ASSERT_TRUE(jobs::JobRules(storage::Location(folder_.path() / "jobs" / "bert-7")).record(rule, "it fired").ok());
  const Json seen = ask("/jobs/bert-7").at("rules").at(0);
  EXPECT_EQ(seen.at("id"), "my rule");
  EXPECT_EQ(seen.at("step"), 5);
  EXPECT_EQ(ask("/jobs/bert-7/logs/" + seen.at("log").get<std::string>()).at("text"), "it fired\n");
}

TEST_F(JobRoutesTest, FilesAreListedAndGivenAsTheyAre) {
  submit("bert-7");
  write("results/bert-7/output/model.tar.gz", "model");
  write("kept/epoch-1/last.pt", std::string("\x00\x01", 2));
  fs::create_symlink("/etc/passwd", folder_.path() / "kept/passwd");
  const Json files = ask("/jobs/bert-7/files");
  ASSERT_EQ(files.at("count"), 2) << files;
  EXPECT_EQ(files.at("files").at(0).at("name"), "checkpoints/epoch-1/last.pt");
  EXPECT_EQ(files.at("files").at(0).at("bytes"), 2);
  EXPECT_EQ(files.at("files").at(0).at("given"), true);
  const auto file = reply("/jobs/bert-7/file?name=checkpoints%2Fepoch-1%2Flast.pt");
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  EXPECT_EQ(*file->body, std::string("\x00\x01", 2));
  EXPECT_EQ(file->file_name, "last.pt");
  EXPECT_EQ(file->type, "application/octet-stream");
}

TEST_F(JobRoutesTest, NoOtherFileIsGiven) {
  submit("bert-7");
  write("kept/last.pt", "x");
  fs::create_symlink("/etc/passwd", folder_.path() / "kept/passwd");
  for (const char* name : {"checkpoints%2Fpasswd", "checkpoints%2F..%2Fjob.toml", "%2Fetc%2Fpasswd", "job.json", ""}) {
    EXPECT_EQ(code_of(std::string("/jobs/bert-7/file?name=") + name), Code::kNotFound) << name;
  }
  EXPECT_EQ(code_of("/jobs/bert-7/file"), Code::kInvalidArgument);
}

// Whoever can write a job names folders in it, and would have the page give away what its user may read.
TEST_F(JobRoutesTest, AJobOfSomebodyElseShowsWhatLiesInItsOwnFolderAlone) {
  submit("bert-7");
  write("kept/id_rsa", "private");
  write("results/bert-7/output/data.tar.gz", "private");
  write("jobs/bert-7/rules/Own.log", "it fired");
  std::ofstream(folder_.path() / "jobs/bert-7/job.json", std::ios::app) << " ";
  ASSERT_EQ(ask("/jobs/bert-7/files").at("count"), 3) << "it is the same job";
  jobs::JobOrder changed = jobs::JobRecord::open(folder_.path() / "jobs", "bert-7")->order();
  changed.retries = 1;
  write("jobs/bert-7/job.json", jobs::encode_order(changed));
  const Json files = ask("/jobs/bert-7/files");
  ASSERT_EQ(files.at("count"), 1) << files;
  EXPECT_EQ(files.at("files").at(0).at("name"), "rules/Own.log");
  EXPECT_EQ(code_of("/jobs/bert-7/file?name=checkpoints%2Fid_rsa"), Code::kNotFound);
}

TEST_F(JobRoutesTest, NoLinkInAJobsFolderIsFollowed) {
  write("secret/output.log", "THE-SECRET");
  write("secret/0.log", "THE-SECRET");
  submit("linked");
  const fs::path job = folder_.path() / "jobs/linked";
  fs::create_symlink(folder_.path() / "secret/output.log", job / "output.log");
  ASSERT_EQ(::mkfifo((job / "agent.log").c_str(), 0600), 0);
  fs::create_directory(job / "rules");
  fs::create_symlink(folder_.path() / "secret/0.log", job / "rules/0.log");
  for (const char* folder : {"ranks", "output", "checkpoints"}) {
    fs::create_directory_symlink(folder_.path() / "secret", job / folder);
  }
  jobs::JobOrder order = jobs::JobRecord::open(folder_.path() / "jobs", "linked")->order();
  order.spec = "program = 'true'\n";  // whose results lie in its own folder
  write("jobs/linked/job.json", jobs::encode_order(order));
  EXPECT_EQ(ask("/jobs/linked").at("logs"), Json::array());
  for (const char* log : {"output", "agent", "rank-0", "rule-0", "rank-..%2F0", "..%2Fsecret%2F0"}) {
    EXPECT_EQ(code_of(std::string("/jobs/linked/logs/") + log), Code::kNotFound) << log;
  }
  for (const char* file : {"output%2F0.log", "checkpoints%2F0.log", "rules%2F0.log", "output%2F..%2F0.log"}) {
    EXPECT_FALSE(reply(std::string("/jobs/linked/file?name=") + file).ok()) << file;
  }
  fs::create_directory_symlink(job, folder_.path() / "jobs/again");
  EXPECT_FALSE(reply("/jobs/again").ok());
  fs::remove_all(job / "rules");
  fs::create_directory_symlink(folder_.path() / "secret", job / "rules");
  EXPECT_EQ(code_of("/jobs/linked"), Code::kPermissionDenied) << "it says which";
  EXPECT_EQ(code_of("/jobs/linked/files"), Code::kPermissionDenied);
}

TEST_F(JobRoutesTest, ADamagedJobIsToldOfAndHidesNoOther) {
  submit("well");
  const std::pair<const char*, std::string> damaged[] = {
      {"nan", R"({"format":1,"name":"nan","submitted":NaN})"},
      {"deep", std::string(1 << 20, '[')},
      {"deeper", R"({"format":1,"name":)" + std::string(200'000, '[') + std::string(200'000, ']') + "}"},
      {"empty", ""},
      {"list", "[]"},
      {"binary", std::string("\xff\x00\x01", 3)},
  };
  for (const auto& [name, text] : damaged) write(fs::path("jobs") / name / "job.json", text);
  write("jobs/huge/job.json", "");
  fs::resize_file(folder_.path() / "jobs/huge/job.json", 100u << 20);
  const Json jobs = ask("/jobs").at("jobs");
  EXPECT_EQ(jobs.size(), std::size(damaged) + 2) << jobs;
  for (const Json& job : jobs) EXPECT_EQ(job.contains("error"), job.at("name") != "well") << job;
  for (const auto& [name, text] : damaged) EXPECT_EQ(code_of(std::string("/jobs/") + name), Code::kDataLoss) << name;
  EXPECT_FALSE(reply("/jobs/huge").ok());
}

TEST_F(JobRoutesTest, ALargeFileIsForTheTerminal) {
  submit("bert-7");
  write("kept/big.pt", "");
  fs::resize_file(folder_.path() / "kept/big.pt", kMostFileBytes + 1);
  EXPECT_EQ(ask("/jobs/bert-7/files").at("files").at(0).at("given"), false);
  const Status refused = reply("/jobs/bert-7/file?name=checkpoints%2Fbig.pt").status();
  EXPECT_EQ(refused.code(), Code::kResourceExhausted);
  EXPECT_NE(refused.message().find("trainwarden job fetch bert-7 checkpoints/big.pt"), std::string::npos);
}

TEST_F(JobRoutesTest, StopAndResumeAreHandedOnWithTheirReason) {
  submit("bert-7");
  EXPECT_EQ(ask("/jobs").at("jobs").at(0).at("status"), "InProgress");
  EXPECT_EQ(ask("/jobs/bert-7/stop", R"({"reason": "wrong data"})").at("status"), "Stopping");
  EXPECT_EQ(asked_.back(), "stop bert-7: on the page: wrong data");
  EXPECT_NE(ask("/jobs").at("jobs").at(0).at("status"), "InProgress") << "the list is as it was before";
  EXPECT_EQ(ask("/jobs/bert-7").at("status"), "Stopped");
  EXPECT_EQ(ask("/jobs/bert-7/resume", "{}").at("secondary_status"), "Restarting");
  EXPECT_EQ(code_of("/jobs/bert-7/resume", "{}"), Code::kFailedPrecondition);
  EXPECT_EQ(code_of("/jobs/nobody/stop", "{}"), Code::kNotFound);
  EXPECT_EQ(code_of("/jobs/bert-7/stop", R"({"reason": 7})"), Code::kInvalidArgument);
}

TEST_F(JobRoutesTest, WhatChangesSomethingSaysSo) {
  for (const answers::Route& route : router_->routes())
    EXPECT_EQ(route.acts, route.method == Method::kPost) << route.path;
}

TEST_F(JobRoutesTest, NoNameLeadsOutOfTheFolderOfJobs) {
  submit("bert-7");
  write("secret/job.json", "{}");
  for (const char* name : {"..", "..%2Fsecret", "%2Fetc", "bert-7%2F..%2Fbert-7", "-"}) {
    EXPECT_EQ(code_of(std::string("/jobs/") + name), Code::kNotFound) << name;
    EXPECT_EQ(code_of(std::string("/jobs/") + name + "/logs/output"), Code::kNotFound) << name;
    EXPECT_EQ(code_of(std::string("/jobs/") + name + "/files"), Code::kNotFound) << name;
  }
}

}  // namespace
}  // namespace trainwarden::work_answers
