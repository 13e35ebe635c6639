#include "work/slurm/slurm_submission.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <fmt/format.h>

#include "store/storage/lease.h"
#include "work/slurm/slurm_testing.h"

namespace trainwarden::slurm {
namespace {

class SlurmSubmissionTest : public testing::Test {
 protected:
  SlurmSubmissionTest() {
    BatchRequest request;
    request.name = "bert-7";
    request.command = {"/bin/true"};
    EXPECT_TRUE(write_intent(job_, request).ok());
    comment_ = (*newest_submission(job_))->intent.comment;
    slurm_.answers("squeue", "echo '{\"jobs\": []}'");
    count_submissions("echo 17");
  }

  void count_submissions(const std::string& then) const {
    slurm_.answers("sbatch",
                   fmt::format("printf '%s\\n' \"$*\" >> {}/submissions; {}", slurm_.folder().string(), then));
  }
  int submissions() const {
    std::ifstream file(slurm_.folder() / "submissions");
    int count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }
  void lists(std::int64_t id, const std::string& comment, std::int64_t user) const {
    slurm_.answers("squeue",
                   fmt::format("echo '{{\"jobs\": [{{\"job_id\": {}, \"comment\": \"{}\", \"user_id\": {}}}]}}'", id,
                               comment, user));
  }
  Result<Submitted> submit_now() { return submit(job_, slurm_.commands(), system_clock()); }

  TestFolder folder_;
  storage::Location job_{folder_.path()};
  FakeSlurm slurm_;
  std::string comment_;
};

TEST_F(SlurmSubmissionTest, SubmitsOnce) {
  EXPECT_FALSE((*newest_submission(job_))->submitted.has_value());
  const auto submitted = submit_now();
  ASSERT_TRUE(submitted.ok()) << submitted.status().to_string();
  EXPECT_EQ(submitted->id, 17);
  EXPECT_FALSE(submitted->adopted);
  EXPECT_EQ(submit_now()->id, 17);
  EXPECT_EQ((*newest_submission(job_))->submitted->id, 17);
  EXPECT_EQ(submissions(), 1);
}

TEST_F(SlurmSubmissionTest, HasAnIntentWithItsCommentFirst) {
  const auto newest = newest_submission(job_);
  ASSERT_TRUE(newest.ok() && newest->has_value());
  EXPECT_EQ((*newest)->number, 1);
  const std::vector<std::string>& arguments = (*newest)->intent.arguments;
  EXPECT_EQ(comment_.size(), std::string("trainwarden-").size() + 32);
  EXPECT_NE(std::find(arguments.begin(), arguments.end(), "--comment=" + comment_), arguments.end());
  EXPECT_TRUE(std::filesystem::is_regular_file(arguments.back())) << arguments.back();
}

TEST_F(SlurmSubmissionTest, IsSubmittedAnewUnderTheNextNumber) {
  ASSERT_TRUE(submit_now().ok());
  ASSERT_TRUE(write_intent(job_, {}).ok());
  const auto newest = newest_submission(job_);
  ASSERT_TRUE(newest.ok() && newest->has_value());
  EXPECT_EQ((*newest)->number, 2);
  EXPECT_NE((*newest)->intent.comment, comment_);
  EXPECT_FALSE((*newest)->submitted);
  count_submissions("echo 18");
  EXPECT_EQ(submit_now()->id, 18);
}

TEST_F(SlurmSubmissionTest, GoesOnWithTheSameOptionsAndAnotherComment) {
  const std::vector<std::string> before = (*newest_submission(job_))->intent.arguments;
  ASSERT_TRUE(write_intent_again(job_).ok());
  const auto newest = newest_submission(job_);
  ASSERT_TRUE(newest.ok() && newest->has_value());
  EXPECT_EQ((*newest)->number, 2);
  std::vector<std::string> expected = before;
  std::replace(expected.begin(), expected.end(), "--comment=" + comment_, "--comment=" + (*newest)->intent.comment);
  EXPECT_EQ((*newest)->intent.arguments, expected);
  EXPECT_NE(expected, before);
  const TestFolder other;
  EXPECT_EQ(write_intent_again(other.path()).code(), Code::kNotFound);
}

TEST_F(SlurmSubmissionTest, KeepsTheFirstNumber) {
  EXPECT_TRUE(write_submitted(job_, 1, {17, "", false}).ok());
  EXPECT_TRUE(write_submitted(job_, 1, {17, "", true}).ok());
  EXPECT_EQ(write_submitted(job_, 1, {18, "", false}).code(), Code::kAlreadyExists);
}

// Slurm has taken it, and who submitted it died before it could write the number.
TEST_F(SlurmSubmissionTest, AdoptsWhatIsThereAlready) {
  lists(5, comment_, ::getuid());
  const auto submitted = submit_now();
  ASSERT_TRUE(submitted.ok()) << submitted.status().to_string();
  EXPECT_EQ(submitted->id, 5);
  EXPECT_TRUE(submitted->adopted);
  EXPECT_EQ(submissions(), 0);
}

TEST_F(SlurmSubmissionTest, AdoptsNobodyElsesJob) {
  lists(5, comment_, ::getuid() + 1);
  EXPECT_EQ(submit_now()->id, 17);
}

TEST_F(SlurmSubmissionTest, DoesNotSubmitWhileNobodyKnowsWhatIsThere) {
  slurm_.answers("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");
  EXPECT_EQ(submit_now().status().code(), Code::kUnavailable);
  EXPECT_EQ(submissions(), 0);
}

TEST_F(SlurmSubmissionTest, LooksAgainAfterAnAnswerThatWasLost) {
  count_submissions(
      "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1");
  EXPECT_EQ(submit_now().status().code(), Code::kUnavailable);
  lists(18, comment_, ::getuid());
  EXPECT_EQ(submit_now()->id, 18);
  EXPECT_EQ(submissions(), 1);
}

TEST_F(SlurmSubmissionTest, SaysWhySlurmRefusesIt) {
  count_submissions("echo 'sbatch: error: Invalid generic resource (gres) specification' >&2; exit 1");
  const Status status = submit_now().status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message(), "sbatch: Invalid generic resource (gres) specification");
  EXPECT_FALSE((*newest_submission(job_))->submitted.has_value());
}

TEST_F(SlurmSubmissionTest, IsDoneByOneProcessAtATime) {
  EXPECT_FALSE(is_being_submitted(job_, system_clock()));
  const auto lease = storage::take_lease(job_.storage(), "slurm/submit", system_clock());
  ASSERT_TRUE(lease.ok());
  EXPECT_TRUE(is_being_submitted(job_, system_clock()));
  EXPECT_EQ(submit_now().status().code(), Code::kAlreadyExists);
  EXPECT_EQ(submissions(), 0);
}

TEST_F(SlurmSubmissionTest, TakesNoDamagedFile) {
  std::ofstream(folder_.path() / "slurm/1/job.json") << "{\"id\": -1}";
  EXPECT_EQ(submit_now().status().code(), Code::kDataLoss);
  std::ofstream(folder_.path() / "slurm/1/intent.json") << "{";
  EXPECT_EQ(submit_now().status().code(), Code::kDataLoss);
  EXPECT_EQ(submissions(), 0);
}

TEST(SlurmSubmission, OfAJobThatWasNotMeantForSlurmIsNone) {
  const TestFolder folder;
  const FakeSlurm slurm;
  EXPECT_FALSE(newest_submission(folder.path())->has_value());
  EXPECT_EQ(submit(folder.path(), slurm.commands(), system_clock()).status().code(), Code::kNotFound);
}

TEST(SlurmSubmission, ReadsWhatSbatchPrints) {
  EXPECT_EQ(parse_sbatch("17\n")->id, 17);
  EXPECT_EQ(parse_sbatch("17;west\n")->cluster, "west");
  for (const char* text : {"", "\n", "Submitted batch job 17\n", "0", "-1", "17x"}) {
    EXPECT_EQ(parse_sbatch(text).status().code(), Code::kDataLoss) << text;
  }
}

}  // namespace
}  // namespace trainwarden::slurm
