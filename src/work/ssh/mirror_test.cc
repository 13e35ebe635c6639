// A job's files from one folder to the other, without ssh between them.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include <poll.h>
#include <unistd.h>

#include "core/process/descriptors.h"
#include "work/ssh/mirror_receiver.h"
#include "work/ssh/mirror_sender.h"
#include "work/ssh/mirror_server.h"
#include "work/ssh/ssh_testing.h"

namespace trainwarden::ssh {
namespace {

using Kind = MirrorFrame::Kind;
using P = jobs::JobPhase;

// Sender and receiver as on one connection.
class Mirror {
 public:
  explicit Mirror(SentJob& job)
      : receiver_(job.here), sender_(job.there, [this](const MirrorFrame& frame) {
          ++frames;
          bytes += frame.bytes.size();
          return receiver_.receive(frame);
        }) {
    FrameSplitter known;
    known.add(*receiver_.known());
    for (auto frame = known.next(); frame.ok() && *frame; frame = known.next()) {
      if ((*frame)->kind == Kind::kFile) sender_.note_known(**frame);
    }
  }
  bool send() {
    const Result<bool> ended = sender_.send_new();
    EXPECT_TRUE(ended.ok()) << ended.status().to_string();
    return ended.value_or(false);
  }
  int frames = 0;
  std::size_t bytes = 0;

 private:
  MirrorReceiver receiver_;
  MirrorSender sender_;
};

TEST(Mirror, BringsWhatIsNewAndNothingTwice) {
  SentJob job;
  job.write("first/output.log", "one\n");
  job.write("run/journal/rank-00000/seg-00000001.tw", "frame");
  Mirror mirror(job);
  EXPECT_FALSE(mirror.send());
  EXPECT_EQ(job.read("first/output.log"), "one\n");
  EXPECT_EQ(job.read("run/journal/rank-00000/seg-00000001.tw"), "frame");
  mirror.frames = 0;
  mirror.send();
  EXPECT_EQ(mirror.frames, 0);
  job.write("first/output.log", "two\n", std::ios::app);
  mirror.bytes = 0;
  mirror.send();
  EXPECT_EQ(job.read("first/output.log"), "one\ntwo\n");
  EXPECT_EQ(mirror.bytes, 4u);
}

TEST(Mirror, ANewConnectionGoesOnWhereTheOldOneEnded) {
  SentJob job;
  job.write("first/output.log", "one\n");
  job.write("first/attempts/1/exit.json", "{}\n");
  Mirror(job).send();
  job.write("first/output.log", "two\n", std::ios::app);
  Mirror again(job);
  again.send();
  EXPECT_EQ(job.read("first/output.log"), "one\ntwo\n");
  EXPECT_EQ(again.bytes, 4u);
}

TEST(Mirror, FilesThatAreReplacedComeWholeAlsoWhenTheyAreLarge) {
  SentJob job;
  const std::string large(3 * kMaxFrameBytes + 17, 'x');
  job.write("first/output/model.tar.gz", large);
  Mirror mirror(job);
  mirror.send();
  EXPECT_EQ(job.read("first/output/model.tar.gz"), large);
  job.write("first/output/model.tar.gz", "small");
  mirror.send();
  EXPECT_EQ(job.read("first/output/model.tar.gz"), "small");
  EXPECT_FALSE(std::filesystem::exists(job.side("here") / "first/output/model.tar.gz.mirror.tmp"));
}

TEST(Mirror, AnEndComesAfterAllThatBelongsToIt) {
  SentJob job;
  for (const P phase : {P::kStarting, P::kTraining, P::kCompleted}) job.advance(phase);
  job.write("first/output.log", "last words\n");
  std::vector<std::string> order;
  MirrorSender sender(job.there, [&](const MirrorFrame& frame) {
    order.push_back(frame.path);
    return Status();
  });
  EXPECT_TRUE(*sender.send_new());
  ASSERT_EQ(order.size(), 4u);
  EXPECT_EQ(order.front(), "job/output.log");
  EXPECT_EQ(order.back(), "job/state/000004.json");
}

TEST(Mirror, AStateThatIsHereIsTheHosts) {
  SentJob job;
  job.advance(P::kStarting);
  job.advance(P::kTraining);
  Mirror(job).send();
  EXPECT_EQ(*job.here.current(), *job.there.current());
  SentJob other;
  ASSERT_TRUE(other.here.advance(*other.here.current(), P::kFailed, "ssh", "it is not there", system_clock()).ok());
  other.advance(P::kStarting);
  MirrorReceiver receiver(other.here);
  MirrorSender sender(other.there, [&](const MirrorFrame& frame) { return receiver.receive(frame); });
  EXPECT_EQ(sender.send_new().status().code(), Code::kDataLoss);
}

TEST(Mirror, AHostWritesNothingButFilesOfTheJob) {
  SentJob job;
  MirrorReceiver receiver(job.here);
  for (const char* path : {"job/job.json", "../x", "/tmp/x", "job/output/../../x", "job/code-1/train.py", "x"}) {
    EXPECT_EQ(receiver.receive({Kind::kFile, path, 0, 0, true, "x"}).code(), Code::kPermissionDenied) << path;
  }
  // Through no link either.
  const std::filesystem::path outside = job.side("here") / "outside";
  std::filesystem::create_directory(outside);
  std::filesystem::create_directory_symlink(outside, job.side("here") / "first/ranks");
  std::ofstream(outside / "victim") << "mine";
  std::filesystem::create_symlink(outside / "victim", job.side("here") / "first/output.log");
  EXPECT_FALSE(receiver.receive({Kind::kFile, "job/ranks/0.log", 0, 0, true, "x"}).ok());
  EXPECT_FALSE(receiver.receive({Kind::kFile, "job/output.log", 0, 0, true, "x"}).ok());
  EXPECT_EQ(job.read("outside/victim"), "mine");
  EXPECT_FALSE(std::filesystem::exists(outside / "0.log"));
}

TEST(Mirror, PiecesThatDoNotFitAreRefused) {
  SentJob job;
  MirrorReceiver receiver(job.here);
  EXPECT_EQ(receiver.receive({Kind::kFile, "job/output.log", 5, 0, true, "x"}).code(), Code::kDataLoss);
  EXPECT_EQ(receiver.receive({Kind::kFile, "run/run.json", 5, 0, true, "x"}).code(), Code::kDataLoss);
  ASSERT_TRUE(receiver.receive({Kind::kFile, "run/run.json", 0, 0, false, "half"}).ok());
  EXPECT_EQ(receiver.receive({Kind::kFile, "run/meta.json", 4, 0, true, "x"}).code(), Code::kDataLoss);
  EXPECT_FALSE(std::filesystem::exists(job.side("here") / "run/run.json"));
}

// What a server says when it has looked for the first time.
void await_beat(int descriptor) {
  FrameSplitter frames;
  std::array<char, 4096> bytes{};
  for (bool is_greeted = false; true;) {
    pollfd comes{descriptor, POLLIN, 0};
    ASSERT_EQ(::poll(&comes, 1, 60'000), 1);
    const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
    ASSERT_GT(count, 0);
    frames.add({bytes.data(), static_cast<std::size_t>(count)});
    if (!is_greeted) is_greeted = *frames.skip_greeting();
    if (!is_greeted) continue;
    for (auto frame = frames.next(); frame.ok() && *frame; frame = frames.next()) {
      if ((*frame)->kind == Kind::kBeat) return;
    }
  }
}

TEST(MirrorServer, EndsWithItsConnection) {
  SentJob job;
  auto input = process::open_pipe();
  auto output = process::open_pipe();
  ASSERT_TRUE(input.ok() && output.ok());
  const std::string known = encode_frame({Kind::kEnd, "", 0, 0, false, ""});
  ASSERT_EQ(::write(input->writing.get(), known.data(), known.size()), static_cast<ssize_t>(known.size()));
  const Result<jobs::JobRecord> there = job.there;
  int looks = 0;
  Status served;
  {
    std::jthread server(
        [&] { served = serve_mirror(there, input->reading.get(), output->writing.get(), [&] { ++looks; }); });
    await_beat(output->reading.get());
    input->writing = FileDescriptor();
  }
  EXPECT_TRUE(served.ok()) << served.to_string();
  EXPECT_EQ(looks, 1);
}

TEST(MirrorServer, AJobOfAnotherSubmissionIsNotFound) {
  SentJob job;
  const storage::Location jobs(job.side("there"));
  EXPECT_TRUE(find_sent_job(jobs, "first", kTestId).ok());
  EXPECT_EQ(find_sent_job(jobs, "first", "abc").status().code(), Code::kNotFound);
  EXPECT_EQ(find_sent_job(jobs, "second", kTestId).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace trainwarden::ssh
