#include "work/catalogue/run_table.h"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "work/catalogue/catalogue.h"

namespace trainwarden::catalogue {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class RunTableTest : public testing::Test {
 protected:
  fs::path runs() const { return folder_.path() / "runs"; }

  void make_run(const std::string& name) {
    fs::create_directories(runs() / name / "journal/rank-00000");
    std::ofstream(runs() / name / "run.json") << "{}";
  }

  // What changed just now is read again in any case.
  void let_age(const std::string& name, std::chrono::hours age = 1h) {
    const auto old = fs::file_time_type::clock::now() - age;
    for (const auto& each : fs::recursive_directory_iterator(runs() / name)) fs::last_write_time(each, old);
    fs::last_write_time(runs() / name, old);
  }

  std::vector<CataloguedRun> list() {
    auto catalogue = Catalogue::open(folder_.path() / "catalogue");
    EXPECT_TRUE(catalogue.ok()) << catalogue.status().to_string();
    auto all = catalogue->runs(runs(), [this](const storage::Location& run) {
      read_.push_back(run.name());
      return answer_;
    });
    EXPECT_TRUE(all.ok()) << all.status().to_string();
    return all.value_or({});
  }

  // How many runs that list read.
  std::size_t reads_of_list() {
    read_.clear();
    list();
    return read_.size();
  }

  OwnedMetrics metrics(std::chrono::milliseconds patience = kAnyTime) {
    const auto all = list();
    auto catalogue = Catalogue::open(folder_.path() / "catalogue");
    auto metrics = catalogue->metrics_of_runs(
        runs(), all,
        [this](const storage::Location& run) -> Result<MetricsByName> {
          measured_.push_back(run.name());
          clock_.advance_ns(std::chrono::nanoseconds(reading_takes_).count());
          return metrics_;
        },
        patience, clock_);
    EXPECT_TRUE(metrics.ok()) << metrics.status().to_string();
    return metrics.value_or({});
  }

  TestFolder folder_;
  FakeClock clock_;
  CataloguedRun answer_{.over = true, .state = "completed", .recorder = "trainwarden", .labels = "{}"};
  std::vector<std::string> read_;
  MetricsByName metrics_;
  std::chrono::milliseconds reading_takes_{0};
  std::vector<std::string> measured_;
};

TEST_F(RunTableTest, HasWhatWasRead) {
  make_run("b");
  make_run("a");
  fs::create_directories(runs() / "no-run");
  fs::create_directory_symlink(runs() / "a", runs() / "link");
  answer_.created_unix_ns = 7;
  answer_.state = "died";
  answer_.status = "Failed";
  answer_.labels = R"({"lr":"0.1"})";
  answer_.steps = 30;
  answer_.last_step = 29;
  answer_.rules = 3;
  answer_.fired = 1;
  answer_.loss = CataloguedLoss{"ce", 29, std::nan("")};
  const auto all = list();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[1].name, "b");
  EXPECT_EQ(all[2].name, "link") << "the folder of runs is the user's own";
  const CataloguedRun& run = all[0];
  EXPECT_EQ(run.created_unix_ns, 7);
  EXPECT_EQ(run.state + " " + run.status, "died Failed");
  EXPECT_EQ(run.labels, answer_.labels);
  EXPECT_EQ(run.steps, 30);
  EXPECT_EQ(run.last_step, 29);
  EXPECT_EQ(run.rules, 3);
  EXPECT_EQ(run.fired, 1);
  ASSERT_TRUE(run.loss.has_value());
  EXPECT_EQ(run.loss->tensor, "ce");
  EXPECT_EQ(run.loss->step, 29);
  EXPECT_TRUE(std::isnan(run.loss->value));
  fs::remove_all(runs() / "b");
  EXPECT_EQ(list().size(), 2u) << "what is gone is forgotten";
}

TEST_F(RunTableTest, WhatIsOverIsReadAgainOnlyWhenAWriterComesBack) {
  make_run("a");
  let_age("a");
  EXPECT_EQ(reads_of_list(), 1u);
  EXPECT_EQ(reads_of_list(), 0u);
  // A writer that starts again puts its lease anew, which changes its folder.
  fs::last_write_time(runs() / "a/journal/rank-00000", fs::file_time_type::clock::now() - 30min);
  EXPECT_EQ(reads_of_list(), 1u);
  EXPECT_EQ(reads_of_list(), 0u);
  fs::create_directories(runs() / "a/journal/watch-0");
  EXPECT_EQ(reads_of_list(), 1u);
  EXPECT_EQ(reads_of_list(), 1u) << "what changed just now may change again without a sign";
  let_age("a");
  EXPECT_EQ(reads_of_list(), 1u);
  EXPECT_EQ(reads_of_list(), 0u);
}

TEST_F(RunTableTest, AnotherRunUnderTheSameNameIsRead) {
  make_run("a");
  let_age("a");
  list();
  fs::rename(runs() / "a", folder_.path() / "kept");  // so that its numbers are not given again
  make_run("a");
  let_age("a");
  EXPECT_EQ(reads_of_list(), 1u);
}

TEST_F(RunTableTest, WhatMayGoOnIsReadEachTime) {
  make_run("a");
  answer_.over = false;
  let_age("a");
  EXPECT_EQ(reads_of_list(), 1u);
  EXPECT_EQ(reads_of_list(), 1u) << "a training that is killed changes no file";
  answer_.unreadable = Status(Code::kDataLoss, "damaged");
  EXPECT_EQ(list()[0].unreadable.message(), "damaged");
}

TEST_F(RunTableTest, RunsOfOthersAreWatchedByTheirFolders) {
  fs::create_directories(runs() / "a/events/000000000010");
  fs::create_directories(runs() / "a/collections/000000000000");
  std::ofstream(runs() / "a/collections/000000000000/worker_0_collections.json") << "{}";
  let_age("a");
  ASSERT_EQ(reads_of_list(), 1u) << "this is a run of smdebug";
  EXPECT_EQ(reads_of_list(), 0u);
  fs::create_directories(runs() / "a/events/000000000020");
  let_age("a", 2h);
  EXPECT_EQ(reads_of_list(), 1u);
}

TEST_F(RunTableTest, NoFolderIsAnError) {
  auto catalogue = Catalogue::open(folder_.path() / "catalogue");
  const auto none = catalogue->runs(runs(), [](const storage::Location&) { return CataloguedRun(); });
  EXPECT_EQ(none.status().code(), Code::kNotFound);
  EXPECT_NE(none.status().message().find("--runs"), std::string::npos) << none.status().message();
}

TEST_F(RunTableTest, MetricsAreKeptAndReadOnceOfWhatIsOver) {
  make_run("a");
  make_run("b");
  let_age("a");
  let_age("b");
  for (const double value : {2.0, -1.0, std::nan("")}) metrics_["val:loss"].add(value, 5);
  metrics_["odd"].add(INFINITY, 6);
  const auto read = metrics();
  EXPECT_EQ(read.unread, 0u);
  ASSERT_EQ(read.of.size(), 2u);
  const experiments::MetricSummary loss = read.of.at("b").at("val:loss");
  EXPECT_EQ(loss.count, 3u);
  EXPECT_EQ(loss.finite, 2u);
  EXPECT_EQ(loss.min, -1);
  EXPECT_EQ(loss.max, 2);
  EXPECT_EQ(loss.mean, 0.5);
  EXPECT_EQ(loss.deviation(), metrics_["val:loss"].deviation());
  EXPECT_TRUE(std::isnan(loss.last));
  EXPECT_EQ(loss.last_unix_ns, 5);
  EXPECT_EQ(read.of.at("a").at("odd"), metrics_["odd"]);
  EXPECT_EQ(measured_.size(), 2u);
  metrics();
  EXPECT_EQ(measured_.size(), 2u);
  fs::last_write_time(runs() / "a/journal/rank-00000", fs::file_time_type::clock::now() - 30min);
  metrics_.erase("odd");
  EXPECT_FALSE(metrics().of.at("a").contains("odd"));
  EXPECT_EQ(measured_.size(), 3u);
  fs::remove_all(runs() / "a");
  EXPECT_FALSE(metrics().of.contains("a"));
}

// So that looking costs a share of the time, however much there is to be read.
TEST_F(RunTableTest, MetricsOfWhatGoesOnAreReadAfterAPause) {
  make_run("a");
  answer_.over = false;
  reading_takes_ = 300ms;
  metrics_["loss"].add(1, 1);
  metrics();
  clock_.advance_ns(5'699'999'999);  // and it has taken 300 ms
  EXPECT_EQ(metrics().of.at("a").at("loss").last, 1);
  EXPECT_EQ(measured_.size(), 1u);
  reading_takes_ = 10ms;
  answer_.over = true;
  let_age("a");
  metrics_["loss"].add(2, 2);
  EXPECT_EQ(metrics().of.at("a").at("loss").last, 2) << "at its end they are read in any case";
  answer_.over = false;
  let_age("a", 2h);
  metrics();
  metrics_["loss"].add(3, 3);
  clock_.advance_ns(189'999'999);
  EXPECT_EQ(metrics().of.at("a").at("loss").last, 2);
  clock_.advance_ns(1);
  EXPECT_EQ(metrics().of.at("a").at("loss").last, 3) << "what is read quickly is read often";
}

TEST_F(RunTableTest, PatienceIsAnEnd) {
  for (int i = 0; i < 5; ++i) make_run(std::to_string(i));
  for (int i = 0; i < 5; ++i) let_age(std::to_string(i));
  metrics_["loss"].add(1, 1);
  EXPECT_EQ(metrics(0ms).unread, 5u);
  EXPECT_TRUE(measured_.empty());
  reading_takes_ = 30ms;
  const OwnedMetrics some = metrics(40ms);
  EXPECT_EQ(some.of.size(), 2u);
  EXPECT_EQ(some.unread, 3u);
  reading_takes_ = 0ms;
  EXPECT_EQ(metrics().of.size(), 5u);
  EXPECT_EQ(measured_.size(), 5u) << "each was read once";
}

}  // namespace
}  // namespace trainwarden::catalogue
