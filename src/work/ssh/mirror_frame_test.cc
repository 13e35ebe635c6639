#include "work/ssh/mirror_frame.h"

#include <gtest/gtest.h>

namespace trainwarden::ssh {
namespace {

using Kind = MirrorFrame::Kind;

const MirrorFrame kPiece{Kind::kFile, "job/output.log", 7, 12, true, std::string("a\nb\0c", 5)};

TEST(MirrorFrame, IsReadAsItWasWrittenInWhateverPiecesItComes) {
  const std::string text = encode_frame(kPiece) + encode_frame({Kind::kEnd, "", 0, 0, true, ""});
  for (std::size_t step = 1; step < text.size(); ++step) {
    FrameSplitter frames;
    std::vector<MirrorFrame> read;
    for (std::size_t at = 0; at < text.size(); at += step) {
      frames.add(std::string_view(text).substr(at, step));
      for (auto frame = frames.next(); frame.ok() && *frame; frame = frames.next()) read.push_back(**frame);
    }
    ASSERT_EQ(read.size(), 2u) << step;
    EXPECT_EQ(read[0], kPiece);
    EXPECT_EQ(read[1].kind, Kind::kEnd);
  }
}

TEST(MirrorFrame, WhatAShellPrintsBeforeTheGreetingIsPassedOver) {
  FrameSplitter frames;
  frames.add("Welcome to gpu1!\n");
  EXPECT_FALSE(*frames.skip_greeting());
  frames.add(std::string(kMirrorGreeting) + "\n" + encode_frame(kPiece));
  EXPECT_TRUE(*frames.skip_greeting());
  EXPECT_EQ(**frames.next(), kPiece);
}

TEST(MirrorFrame, AnotherProgramIsRecognized) {
  FrameSplitter frames;
  frames.add(std::string(100'000, 'x'));
  EXPECT_EQ(frames.skip_greeting().status().code(), Code::kDataLoss);
}

TEST(MirrorFrame, WhatIsNoFrameIsRefused) {
  const std::string head = R"({"kind":"file","path":"job/a.log","offset":0,"time":0,"last":true,"bytes":)";
  for (const std::string& text :
       {std::string("{}\n"), std::string("rm -rf /\n"), head + "-1}\n", head + "999999999999}\n",
        std::string(R"({"kind":"exec","path":"","offset":0,"time":0,"last":true,"bytes":0})") + "\n",
        std::string(20'000, 'x')}) {
    FrameSplitter frames;
    frames.add(text);
    EXPECT_EQ(frames.next().status().code(), Code::kDataLoss) << text.substr(0, 100);
  }
}

}  // namespace
}  // namespace trainwarden::ssh
