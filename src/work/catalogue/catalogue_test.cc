#include "work/catalogue/catalogue.h"

#include <csignal>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/folder_testing.h"
#include "work/catalogue/database.h"
#include "work/jobs/job_record.h"

namespace trainwarden::catalogue {
namespace {

class CatalogueTest : public testing::Test {
 protected:
  std::filesystem::path jobs() const { return folder_.path() / "jobs"; }
  std::filesystem::path place() const { return folder_.path() / "catalogue"; }

  jobs::JobRecord submit(const std::string& name, const std::string& more = "") {
    jobs::JobOrder order;
    order.name = name;
    clock_.advance_ns(1'000'000'000);
    order.submitted_unix_ns = clock_.unix_ns();
    order.program = {"true"};
    order.run = (folder_.path() / "runs" / name).string();
    order.spec = "program = 'true'\n" + more;
    Result<jobs::JobRecord> job = jobs::JobRecord::create(jobs(), order);
    EXPECT_TRUE(job.ok()) << job.status().to_string();
    return *std::move(job);
  }

  // What changed just now is read again in any case.
  void let_age(const std::string& job) {
    const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
    for (const auto& folder : {jobs() / job, jobs() / job / "state"}) std::filesystem::last_write_time(folder, old);
  }

  void end(jobs::JobRecord& job, jobs::JobPhase phase) {
    jobs::Transition now = *job.current();
    now = *job.advance(now, jobs::JobPhase::kStopping, "user", "", clock_);
    ASSERT_TRUE(job.advance(now, phase, "program", "it is over", clock_).ok());
  }

  std::vector<CataloguedJob> list(Catalogue& catalogue) {
    auto all = catalogue.jobs(jobs(), settle_);
    EXPECT_TRUE(all.ok()) << all.status().to_string();
    return all.value_or({});
  }
  std::vector<CataloguedJob> list() {
    auto catalogue = Catalogue::open(place());
    EXPECT_TRUE(catalogue.ok()) << catalogue.status().to_string();
    return list(*catalogue);
  }

  TestFolder folder_;
  FakeClock clock_;
  SettleJob settle_ = [this](jobs::JobRecord& job) { return job.settle(clock_); };
};

TEST_F(CatalogueTest, HasWhatTheFolderOfJobsHas) {
  EXPECT_TRUE(list().empty());
  submit("first", "[hyperparameters]\nlr = 0.5\nname = 'adam'\n[experiment]\nexperiment = 'e'\ntrial = 't'\n");
  auto second = submit("second");
  const auto both = list();
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].name, "second") << "the newest comes first";
  EXPECT_EQ(both[1].hyperparameters, R"({"lr":0.5,"name":"adam"})");
  EXPECT_EQ(both[1].experiment, "e");
  EXPECT_EQ(both[1].trial, "t");
  EXPECT_EQ(both[1].run, (folder_.path() / "runs" / "first").string());
  end(second, jobs::JobPhase::kStopped);
  const auto later = list();
  EXPECT_EQ(later[0].now.status, jobs::JobPhase::kStopped);
  EXPECT_EQ(later[0].now.message, "it is over");
  EXPECT_EQ(later[0].now.seq, 3);
  std::filesystem::remove_all(jobs() / "first");
  EXPECT_EQ(list().size(), 1u) << "what is gone is forgotten";
}

TEST_F(CatalogueTest, WhatHasEndedIsNotReadAgainUntilItsFolderChanges) {
  auto job = submit("first");
  end(job, jobs::JobPhase::kStopped);
  EXPECT_EQ(list()[0].now.status, jobs::JobPhase::kStopped);
  let_age("first");
  list();
  const auto changed = std::filesystem::last_write_time(jobs() / "first");
  std::ofstream(jobs() / "first" / "job.json") << "{";
  std::filesystem::last_write_time(jobs() / "first", changed);
  EXPECT_TRUE(list()[0].unreadable.ok()) << "it was read although it has ended";
  std::filesystem::last_write_time(jobs() / "first", changed + std::chrono::seconds(1));
  EXPECT_FALSE(list()[0].unreadable.ok());
}

// One that has ended may be resumed: a file more in its folder `state`, and none elsewhere.
TEST_F(CatalogueTest, WhatGoesOnAfterItsEndIsSeen) {
  auto job = submit("first");
  end(job, jobs::JobPhase::kStopped);
  let_age("first");
  list();
  EXPECT_EQ(list()[0].now.status, jobs::JobPhase::kStopped);
  const jobs::Transition next{4, clock_.unix_ns(), jobs::JobPhase::kStarting, "user", "goes on"};
  std::ofstream(jobs() / "first/state/000004.json") << jobs::encode_transition(next);
  EXPECT_GE(list()[0].now.seq, 4) << "it was not read again";
}

TEST_F(CatalogueTest, AnotherJobUnderTheSameNameIsRead) {
  auto job = submit("first");
  end(job, jobs::JobPhase::kStopped);
  let_age("first");
  list();
  std::filesystem::remove_all(jobs() / "first");
  submit("first");
  EXPECT_EQ(list()[0].now.status, jobs::JobPhase::kPending);
}

TEST_F(CatalogueTest, AJobThatCannotBeReadSaysWhyAndHindersNone) {
  submit("good");
  submit("bad");
  std::ofstream(jobs() / "bad" / "job.json") << R"({"format":1,"name":7})";
  std::filesystem::create_directories(jobs() / "no-job");
  std::filesystem::create_directories(jobs() / "-no name-");
  std::filesystem::create_directory_symlink(jobs() / "good", jobs() / "link");
  const auto all = list();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_NE(all[1].unreadable.message().find("name"), std::string::npos) << all[1].unreadable.message();
  EXPECT_TRUE(all[0].unreadable.ok());
}

TEST_F(CatalogueTest, FoldersDoNotMix) {
  submit("first");
  auto catalogue = Catalogue::open(place());
  ASSERT_TRUE(catalogue.ok());
  EXPECT_EQ(list(*catalogue).size(), 1u);
  EXPECT_TRUE(catalogue->jobs(folder_.path() / "others", settle_)->empty());
  EXPECT_EQ(list(*catalogue).size(), 1u);
}

// A page in the middle is overwritten while a process has the file open.
TEST_F(CatalogueTest, DamageUnderWayIsNoticedAndMadeAnew) {
  for (int i = 0; i < 300; ++i) submit(fmt::format("job-{}", i), "# " + std::string(300, 'x') + "\n");
  list();
  const std::filesystem::path file = place() / "catalogue.db";
  {
    std::fstream damage(file, std::ios::binary | std::ios::in | std::ios::out);
    const auto bytes = static_cast<std::streamoff>(std::filesystem::file_size(file));
    ASSERT_GT(bytes, 5 * 4096);
    for (std::streamoff page = 2 * 4096; page < bytes; page += 4096)
      damage.seekp(page).write(std::string(4096, '\xa5').data(), 4096);
  }
  auto catalogue = Catalogue::open(place());
  ASSERT_TRUE(catalogue.ok());
  EXPECT_EQ(list(*catalogue).size(), 300u);
  const auto notes = catalogue->take_notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("made anew"), std::string::npos) << notes[0];
  EXPECT_EQ(list().size(), 300u);
}

TEST_F(CatalogueTest, WhileAnotherProcessWritesItEverythingIsRead) {
  submit("first");
  auto catalogue = Catalogue::open(place());
  ASSERT_TRUE(catalogue.ok());
  EXPECT_EQ(list(*catalogue).size(), 1u);
  submit("second");
  auto writer = Database::open(place() / "catalogue.db", true);
  ASSERT_TRUE(writer.ok()) << writer.status().to_string();
  ASSERT_TRUE(writer->execute("BEGIN IMMEDIATE").ok());
  EXPECT_EQ(list(*catalogue).size(), 2u);
  const auto notes = catalogue->take_notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("another process has been writing it for long"), std::string::npos) << notes[0];
}

TEST_F(CatalogueTest, ManyProcessesAtOnceSomeKilled) {
  constexpr int kJobs = 40;
  for (int i = 0; i < kJobs; ++i) submit(fmt::format("job-{}", i));
  int rounds[2];
  ASSERT_EQ(::pipe(rounds), 0);
  std::vector<pid_t> readers;
  for (char i = 0; i < 6; ++i) {
    const pid_t reader = ::fork();
    if (reader == 0) {
      for (int round = 0; i < 3 || round < 20; ++round) {  // three are killed, three end by themselves
        auto catalogue = Catalogue::open(place());
        if (!catalogue.ok()) ::_exit(2);
        const auto all = catalogue->jobs(jobs(), settle_);
        if (!all.ok() || all->size() != kJobs || !catalogue->take_notes().empty()) ::_exit(3);
        if (i < 3 && ::write(rounds[1], &i, 1) != 1) ::_exit(4);
      }
      ::_exit(0);
    }
    readers.push_back(reader);
  }
  ::close(rounds[1]);
  std::set<char> have_read;
  for (char i = 0; have_read.size() < 3 && ::read(rounds[0], &i, 1) == 1;) have_read.insert(i);
  for (int i = 0; i < 3; ++i) ::kill(readers[static_cast<std::size_t>(i)], SIGKILL);
  ::close(rounds[0]);
  for (std::size_t i = 0; i < readers.size(); ++i) {
    int status = 0;
    ::waitpid(readers[i], &status, 0);
    if (i < 3) {
      EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself with " << WEXITSTATUS(status);
    } else {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
    }
  }
  auto catalogue = Catalogue::open(place());
  ASSERT_TRUE(catalogue.ok());
  EXPECT_EQ(list(*catalogue).size(), kJobs);
  EXPECT_TRUE(catalogue->take_notes().empty());
}

TEST_F(CatalogueTest, MakingItAnewReadsEverythingAgain) {
  auto job = submit("first");
  end(job, jobs::JobPhase::kStopped);
  let_age("first");
  list();
  const auto changed = std::filesystem::last_write_time(jobs() / "first");
  std::ofstream(jobs() / "first" / "job.json") << "{";
  std::filesystem::last_write_time(jobs() / "first", changed);
  auto anew = Catalogue::make_anew(place());
  ASSERT_TRUE(anew.ok()) << anew.status().to_string();
  EXPECT_FALSE(list(*anew)[0].unreadable.ok());
}

}  // namespace
}  // namespace trainwarden::catalogue
