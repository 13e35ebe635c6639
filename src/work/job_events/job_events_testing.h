// What the tests of this floor have in common: jobs that are moved by hand, runs with a ledger, and a subscriber that
// is a file.
#pragma once

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/folder_testing.h"
#include "react/events/ledger.h"
#include "store/journal/run_folder.h"
#include "work/job_events/event_folder.h"
#include "work/job_events/subscription_folder.h"
#include "work/jobs/job_record.h"

namespace trainwarden::job_events {

class JobFolderTest : public testing::Test {
 protected:
  std::filesystem::path jobs() const { return folder_.path() / "jobs"; }
  std::filesystem::path runs() const { return folder_.path() / "runs"; }
  std::filesystem::path delivered_file() const { return folder_.path() / "delivered.jsonl"; }

  jobs::JobRecord submit(const std::string& name) const {
    jobs::JobOrder order;
    order.name = name;
    order.submitted_unix_ns = system_clock().unix_ns();
    order.program = {"true"};
    order.run = (runs() / name).string();
    EXPECT_TRUE(EventFolder(jobs()).markers().enter(name).ok());
    auto record = jobs::JobRecord::create(jobs(), order);
    EXPECT_TRUE(record.ok()) << record.status().to_string();
    return *record;
  }

  static void move(jobs::JobRecord& job, const std::vector<jobs::JobPhase>& way) {
    for (const jobs::JobPhase next : way) {
      EXPECT_TRUE(job.advance(*job.current(), next, "test", "", system_clock()).ok()) << name(next);
    }
  }
  static void complete(jobs::JobRecord& job) {
    using P = jobs::JobPhase;
    move(job, {P::kStarting, P::kTraining, P::kCompleted});
  }

  // The ledger of a job's run, as `trainwarden run` keeps it.
  std::unique_ptr<events::Ledger> run_ledger(const std::string& name) const {
    storage::Location place(runs() / name);
    journal::RunInfo info;
    info.id = journal::make_run_id();
    EXPECT_TRUE(journal::create_or_join_run(place.storage(), info).ok());
    places_.push_back(place);
    auto ledger = events::Ledger::open(places_.back().storage(), system_clock(), info);
    EXPECT_TRUE(ledger.ok()) << ledger.status().to_string();
    return *std::move(ledger);
  }

  static events::Event alert(const std::string& rule, int step) {
    events::Event event;
    event.key = rule + "-" + std::to_string(step);
    event.type = events::kAlertType;
    event.subject = rule;
    event.source = "/trainwarden/node7/runs/any";
    event.unix_ns = system_clock().unix_ns();
    event.change = {events::ChangeKind::kAlert, rule, "", ""};
    event.global_step = step;
    event.headline = rule + " fired";
    event.data = {{"TrainingJobName", "somebody-else"}, {"RunFolder", "/somewhere/else"}};
    return event;
  }

  void subscribe(const std::string& name, const std::string& pattern = R"({"type": [{"prefix": "io"}]})",
                 const std::string& action = "") const {
    const std::string to_file = "file:path=" + delivered_file().string();
    const StandingSubscription standing{name, pattern, action.empty() ? to_file : action, 1};
    ASSERT_TRUE(SubscriptionFolder(jobs()).add(standing).ok());
  }

  // What the file got, by id. A line that has no end yet is still being written.
  std::map<std::string, std::vector<nlohmann::json>> delivered() const {
    std::map<std::string, std::vector<nlohmann::json>> all;
    std::ifstream file(delivered_file());
    for (std::string line; std::getline(file, line) && !file.eof();) {
      const auto event = nlohmann::json::parse(line);
      all[event.at("id")].push_back(event);
    }
    return all;
  }

  TestFolder folder_;
  mutable std::vector<storage::Location> places_;
};

}  // namespace trainwarden::job_events
