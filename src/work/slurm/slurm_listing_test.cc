#include "work/slurm/slurm_listing.h"

#include <gtest/gtest.h>

#include "work/slurm/slurm_testing.h"

namespace trainwarden::slurm {
namespace {

// What Slurm 22.05.8 printed of a job that runs, one that has failed, a task of an array, and those of its tasks that
// wait; with fewer fields.
constexpr const char* kOldJson = R"({"meta": {"plugin": {"type": "openapi\/v0.0.38"}}, "errors": [], "jobs": [
{"array_job_id": 0, "array_task_id": null, "array_task_string": "", "comment": "abc-1", "exit_code": 0, "job_id": 1,
 "job_state": "RUNNING", "name": "first", "nodes": "node1", "requeue": true, "restart_cnt": 0, "state_reason": "None",
 "user_id": 0},
{"array_job_id": 0, "array_task_id": null, "array_task_string": "", "comment": "", "exit_code": 1792, "job_id": 2,
 "job_state": "FAILED", "name": "wrap", "nodes": "node1", "requeue": false, "restart_cnt": 2,
 "state_reason": "NonZeroExitCode", "user_id": 1000},
{"array_job_id": 3, "array_task_id": 0, "array_task_string": "", "comment": "", "exit_code": 9, "job_id": 4,
 "job_state": "CANCELLED", "name": "wrap", "nodes": "node2", "requeue": true, "restart_cnt": 0, "state_reason": "None",
 "user_id": 0},
{"array_job_id": 3, "array_task_id": null, "array_task_string": "1-2%1", "comment": "", "exit_code": 0, "job_id": 3,
 "job_state": "PENDING", "name": "wrap", "nodes": "", "requeue": true, "restart_cnt": 0,
 "state_reason": "JobArrayTaskLimit", "user_id": 0}]})";

// The same, as the documents of Slurm 24.05 describe it.
constexpr const char* kNewJson = R"({"meta": {"plugin": {"type": "openapi/slurmctld"}}, "errors": [], "warnings": [],
"last_update": {"set": true, "infinite": false, "number": 1700000000}, "jobs": [
{"array_job_id": {"set": true, "infinite": false, "number": 0}, "array_task_id": {"set": false, "infinite": false,
 "number": 0}, "array_task_string": "", "comment": "abc-1", "exit_code": {"status": ["SUCCESS"], "return_code":
 {"set": true, "infinite": false, "number": 0}, "signal": {"id": {"set": false, "infinite": false, "number": 0},
 "name": ""}}, "job_id": 1, "job_state": ["RUNNING"], "name": "first", "nodes": "node1", "requeue": true,
 "restart_cnt": 0, "state_reason": "None", "user_id": 0},
{"array_job_id": {"set": true, "infinite": false, "number": 0}, "array_task_id": {"set": false}, "comment": "",
 "exit_code": {"status": ["ERROR"], "return_code": {"set": true, "infinite": false, "number": 7}, "signal":
 {"id": {"set": false, "number": 0}}}, "job_id": 2, "job_state": ["FAILED"], "name": "wrap", "nodes": "node1",
 "requeue": false, "restart_cnt": 2, "state_reason": "NonZeroExitCode", "user_id": 1000},
{"array_job_id": {"set": true, "number": 3}, "array_task_id": {"set": true, "number": 0}, "comment": "", "exit_code":
 {"status": ["SIGNALED"], "return_code": {"set": true, "number": 0}, "signal": {"id": {"set": true, "number": 9},
 "name": "SIGKILL"}}, "job_id": 4, "job_state": ["CANCELLED"], "name": "wrap", "nodes": "node2", "requeue": true,
 "restart_cnt": 0, "state_reason": "None", "user_id": 0},
{"array_job_id": {"set": true, "number": 3}, "array_task_id": {"set": false}, "array_task_string": "1-2%1",
 "comment": "", "exit_code": {"status": ["PENDING"], "return_code": {"set": false, "number": 0}, "signal": {"id":
 {"set": false}}}, "job_id": 3, "job_state": ["PENDING"], "name": "wrap", "nodes": "", "requeue": true,
 "restart_cnt": 0, "state_reason": "JobArrayTaskLimit", "user_id": 0}]})";

// And as `scontrol -o show job` of 22.05.8 printed it.
constexpr const char* kLines =
    "JobId=1 JobName=first UserId=root(0) GroupId=root(0) Account=(null) JobState=RUNNING Reason=None Requeue=1 "
    "Restarts=0 ExitCode=0:0 ReqNodeList=(null) ExcNodeList=(null) NodeList=node1 BatchHost=node1 Comment=abc-1  "
    "StdErr=/tmp/o.log \n"
    "JobId=2 JobName=wrap UserId=anna(1000) GroupId=root(0) JobState=FAILED Reason=NonZeroExitCode Requeue=0 "
    "Restarts=2 ExitCode=7:0 NodeList=node1 \n"
    "JobId=4 ArrayJobId=3 ArrayTaskId=0 ArrayTaskThrottle=1 JobName=wrap UserId=root(0) JobState=CANCELLED "
    "Reason=None Requeue=1 Restarts=0 ExitCode=0:9 NodeList=node2 \n"
    "JobId=3 ArrayJobId=3 ArrayTaskId=1-2%1 ArrayTaskThrottle=1 JobName=wrap UserId=root(0) JobState=PENDING "
    "Reason=JobArrayTaskLimit Requeue=1 Restarts=0 ExitCode=0:0 NodeList= NumNodes=1 \n\n";

void expect_the_four(const std::vector<SlurmJob>& jobs) {
  ASSERT_EQ(jobs.size(), 4U);
  EXPECT_EQ(jobs[0].id, 1);
  EXPECT_EQ(jobs[0].comment, "abc-1");
  EXPECT_EQ(jobs[0].name, "first");
  EXPECT_EQ(jobs[0].states, std::vector<std::string>{"RUNNING"});
  EXPECT_EQ(jobs[0].nodes, "node1");
  EXPECT_EQ(jobs[0].user, 0);
  EXPECT_TRUE(jobs[0].requeues);
  EXPECT_EQ(jobs[1].states, std::vector<std::string>{"FAILED"});
  EXPECT_EQ(jobs[1].reason, "NonZeroExitCode");
  EXPECT_EQ(jobs[1].exit, (SlurmExit{7, std::nullopt}));
  EXPECT_EQ(jobs[1].restarts, 2);
  EXPECT_EQ(jobs[1].user, 1000);
  EXPECT_FALSE(jobs[1].requeues);
  EXPECT_EQ(jobs[2].key(), (SlurmKey{3, 0}));
  EXPECT_EQ(jobs[2].exit, (SlurmExit{std::nullopt, 9}));
  EXPECT_EQ(jobs[3].key(), (SlurmKey{3, std::nullopt}));
  EXPECT_EQ(jobs[3].waiting_tasks, "1-2%1");
}

TEST(SlurmListing, ReadsTheJsonOfOlderVersions) {
  const auto jobs = parse_squeue_json(kOldJson);
  ASSERT_TRUE(jobs.ok()) << jobs.status().to_string();
  expect_the_four(*jobs);
}

TEST(SlurmListing, ReadsTheJsonOfNewerVersions) {
  const auto jobs = parse_squeue_json(kNewJson);
  ASSERT_TRUE(jobs.ok()) << jobs.status().to_string();
  expect_the_four(*jobs);
}

TEST(SlurmListing, ReadsTheLinesOfScontrol) {
  expect_the_four(parse_scontrol_jobs(kLines));
}

TEST(SlurmListing, ReadsWaitStatuses) {
  EXPECT_EQ(exit_of_wait_status(1792), (SlurmExit{7, std::nullopt}));
  EXPECT_EQ(exit_of_wait_status(9), (SlurmExit{std::nullopt, 9}));
  EXPECT_EQ(exit_of_wait_status(36608), (SlurmExit{143, std::nullopt}));
  EXPECT_EQ(exit_of_wait_status(139), (SlurmExit{std::nullopt, 11}));  // with a core file
  EXPECT_EQ(exit_of_wait_status(-1), SlurmExit());
  EXPECT_EQ(exit_of_wait_status(4294967294), SlurmExit());  // nothing is known yet
}

TEST(SlurmListing, LeavesOutWhatItDoesNotUnderstand) {
  const auto jobs = parse_squeue_json(
      R"({"jobs": [7, null, {}, {"job_id": -3}, {"job_id": "x"}, {"job_id": 18446744073709551615},
          {"job_id": 5, "job_state": {"a": 1}, "name": 7, "exit_code": {"return_code": "x"}, "user_id": 1.5,
           "restart_cnt": {"set": true, "number": {"set": true}}, "array_job_id": -1}]})");
  ASSERT_TRUE(jobs.ok()) << jobs.status().to_string();
  ASSERT_EQ(jobs->size(), 1U);
  EXPECT_EQ(jobs->front().id, 5);
  EXPECT_TRUE(jobs->front().states.empty());
  EXPECT_EQ(jobs->front().user, -1);
  for (const char* text : {"", "[]", "{}", R"({"jobs": 7})", R"({"jobs": [)", "slurm_load_jobs error"}) {
    EXPECT_EQ(parse_squeue_json(text).status().code(), Code::kDataLoss) << text;
  }
  EXPECT_TRUE(parse_scontrol_jobs("No jobs in the system\nJobId= JobState=RUNNING\nJobId=x\n").empty());
}

// Anybody may name a job as he likes.
TEST(SlurmListing, TakesNoLineThatSaysAThingTwice) {
  EXPECT_TRUE(parse_scontrol_jobs("JobId=9 JobName=a UserId=anna(1000) JobState=FAILED UserId=eve(1001) "
                                  "JobState=RUNNING Reason=None\n")
                  .empty());
}

TEST(SlurmListing, FallsBackToScontrolWhereSqueueHasNoJson) {
  const FakeSlurm slurm;
  slurm.answers("squeue", "echo \"squeue: unrecognized option '--json'\" >&2; exit 1");
  slurm.answers("scontrol", "test \"$*\" = '-o show job' && echo 'JobId=9 JobName=a JobState=RUNNING'");
  const auto jobs = list_jobs(slurm.commands());
  ASSERT_TRUE(jobs.ok()) << jobs.status().to_string();
  ASSERT_EQ(jobs->size(), 1U);
  EXPECT_EQ(jobs->front().id, 9);
}

TEST(SlurmListing, IsUnknownAndNotEmptyWhenTheControllerDoesNotAnswer) {
  const FakeSlurm slurm;
  slurm.answers("squeue",
                "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1");
  slurm.answers("scontrol", "echo 'No jobs in the system'");
  EXPECT_EQ(list_jobs(slurm.commands()).status().code(), Code::kUnavailable);
}

// So does 22.05.8, with exit code 0.
TEST(SlurmListing, AnEmptyListWithAnErrorInItIsUnknownToo) {
  const FakeSlurm slurm;
  slurm.answers("squeue", R"(echo '{"meta": {}, "errors": [{"description": "Failed while looking for jobs",
    "error_number": -1, "error": "Unspecified error", "source": "slurm_load_jobs"}], "jobs": []}')");
  slurm.answers("scontrol", "echo 'No jobs in the system'");
  const Status status = list_jobs(slurm.commands()).status();
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(status.message(), "squeue --json: Failed while looking for jobs; it may answer later");
}

}  // namespace
}  // namespace trainwarden::slurm
