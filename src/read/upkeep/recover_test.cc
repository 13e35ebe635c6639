#include "read/upkeep/recover.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "data/format/compression.h"
#include "read/trial/run_testing.h"
#include "read/upkeep/checkup.h"
#include "read/upkeep/run_origin.h"
#include "store/journal/golden_run.h"
#include "store/journal/journal_reader.h"
#include "store/storage/local_storage.h"

namespace trainwarden::upkeep {
namespace {

using journal::Golden;

constexpr const char* kSealed = "journal/rank-00000/seg-00000000.tw";
constexpr const char* kOpen = "journal/rank-00000/seg-00000001.tw";

struct FrameAt {
  format::FrameHeader header;
  std::size_t begin = 0;
};

std::vector<FrameAt> frames_of(const std::string& content) {
  std::vector<FrameAt> frames;
  for (std::size_t offset = 0; offset < content.size();) {
    const auto header = format::decode_frame_header(as_bytes(content).subspan(offset, format::kFrameHeaderBytes));
    if (!header.ok()) break;
    frames.push_back({*header, offset});
    offset += header->frame_bytes();
  }
  return frames;
}

class Recover : public testing::Test {
 protected:
  static std::shared_ptr<storage::MemoryStorage> golden(Golden which = Golden::kFirst) {
    return journal::load_golden_run(which);
  }

  Result<RecoverReport> recover(const std::shared_ptr<storage::MemoryStorage>& from) {
    to_ = folder_.path() / ("copy-" + std::to_string(count_++));
    return recover_run({.from = storage::Location(from, "memory"), .to = to_});
  }

  // What the copy says of rank-00000 against the batches of the golden run; where the original lost something the copy
  // may lack it, but nothing else may be there.
  void expect_steps_are_right(const std::vector<std::unique_ptr<journal::SampleStep>>& steps, bool all) {
    const auto storage = storage::open_local_storage(to_);
    const auto info = journal::read_run(*storage);
    ASSERT_TRUE(info.ok());
    const auto reader = journal::JournalReader::open(*storage, *info, "rank-00000", {.live = false});
    ASSERT_TRUE(reader.ok()) << reader.status().to_string();
    if (all) {
      EXPECT_EQ((*reader)->steps().size(), steps.size());
    }
    for (std::size_t i = 0; i < (*reader)->steps().size(); ++i) {
      const auto& entry = (*reader)->steps()[i];
      const auto step = std::find_if(steps.begin(), steps.end(),
                                     [&](const auto& each) { return each->batch().global_step == entry.global_step; });
      ASSERT_NE(step, steps.end());
      EXPECT_EQ(entry.mode, (*step)->batch().mode);
      EXPECT_EQ(entry.mode_step, (*step)->batch().mode_step);
      EXPECT_EQ(journal::difference(**reader, i, (*step)->batch(), !all), "");
    }
  }

  void expect_whole() {
    const auto checkup = examine(storage::Location(to_));
    ASSERT_TRUE(checkup.ok()) << checkup.status().to_string();
    for (const JournalCheckup& journal : checkup->journals) {
      EXPECT_EQ(journal.sealed, journal.segments) << journal.writer;
      for (const RunLoss& loss : journal.losses) {
        EXPECT_TRUE(loss.by_writer) << loss.cause << ": " << loss.where;
      }
    }
  }

  // Its header or its payload.
  void damage_each_frame(const std::shared_ptr<storage::MemoryStorage>& from, const std::string& path,
                         const std::vector<std::unique_ptr<journal::SampleStep>>& steps) {
    const std::string clean = from->content(path);
    for (const FrameAt& frame : frames_of(clean)) {
      for (const std::size_t at : {std::size_t{30}, format::kFrameHeaderBytes}) {
        if (at >= format::kFrameHeaderBytes && frame.header.payload_bytes == 0) continue;
        SCOPED_TRACE(path + ": " + std::string(format::name(frame.header.kind)) + " of step " +
                     std::to_string(frame.header.step) + ", byte " + std::to_string(at));
        std::string damaged = clean;
        damaged[frame.begin + at] ^= 0x20;
        from->set_content(path, damaged);
        const auto report = recover(from);
        ASSERT_TRUE(report.ok()) << report.status().to_string();
        EXPECT_GT(report->lost.size() + report->mended.size(), 0u);
        const bool is_index =
            frame.header.kind == format::FrameKind::kIndex || frame.header.kind == format::FrameKind::kTrailer;
        if (is_index) {
          EXPECT_TRUE(report->lost.empty()) << report->lost.front().cause << " " << report->lost.front().what;
        }
        expect_whole();
        expect_steps_are_right(steps, is_index);
        if (HasFailure()) return;
      }
    }
    from->set_content(path, clean);
  }

  TestFolder folder_;
  std::filesystem::path to_;
  int count_ = 0;
};

TEST_F(Recover, NothingIsLostOfARunThatIsWhole) {
  for (const Golden which : {Golden::kFirst, Golden::kReductions, Golden::kSamples, Golden::kOperators, Golden::kShared,
                             Golden::kCompressed}) {
    const auto report = recover(golden(which));
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    EXPECT_TRUE(report->lost.empty()) << report->lost.front().cause;
    EXPECT_TRUE(report->mended.empty());
    expect_whole();
    expect_steps_are_right(journal::golden_steps(which), true);
    EXPECT_EQ(report->info.format_version, which == Golden::kCompressed ? 2 : 1);
  }
}

TEST_F(Recover, FramesThatWereCompressedAreInTheCopy) {
  const auto from = golden(Golden::kCompressed);
  ASSERT_TRUE(recover(from).ok());
  std::ifstream file(to_ / kSealed, std::ios::binary);
  const std::string copied{std::istreambuf_iterator<char>(file), {}};
  std::size_t compressed = 0;
  for (const FrameAt& frame : frames_of(copied)) compressed += format::is_compressed(frame.header) ? 1 : 0;
  EXPECT_GT(compressed, 2u);
}

TEST_F(Recover, ARunOfWhichItsSegmentsAloneTellHasTheirVersion) {
  const auto from = golden(Golden::kCompressed);
  from->set_content("run.json", "{");
  const auto report = recover(from);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->info.format_version, 2);
  expect_whole();
  expect_steps_are_right(journal::golden_steps(Golden::kCompressed), true);
}

TEST_F(Recover, TheCopyIsARunOfItsOwnThatSaysWhereItCameFrom) {
  const auto from = golden();
  const auto original = journal::read_run(*from);
  const auto report = recover(from);
  ASSERT_TRUE(report.ok());
  const auto storage = storage::open_local_storage(to_);
  const auto info = journal::read_run(*storage);
  ASSERT_TRUE(info.ok());
  EXPECT_NE(info->id, original->id);
  EXPECT_EQ(info->id, report->info.id);
  EXPECT_EQ(info->created_unix_ns, original->created_unix_ns);
  EXPECT_EQ(info->labels, original->labels);
  EXPECT_EQ(info->command, original->command);
  EXPECT_EQ(info->world_size, original->world_size);
  const auto origins = read_origins(*storage);
  ASSERT_TRUE(origins.ok());
  ASSERT_EQ(origins->size(), 1u);
  EXPECT_EQ(origins->front().how, "recover");
  EXPECT_EQ(origins->front().run, original->id);
  EXPECT_TRUE(origins->front().lost.empty());
}

TEST_F(Recover, TimesOfFramesStayAndTheOriginalIsNotTouched) {
  const auto from = golden();
  std::vector<std::string> before;
  for (const std::string& file : journal::golden_files()) before.push_back(from->content(file));
  ASSERT_TRUE(recover(from).ok());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(from->content(journal::golden_files()[i]), before[i]);
  std::ifstream file(to_ / kOpen, std::ios::binary);
  const std::string copied{std::istreambuf_iterator<char>(file), {}};
  const auto old_frames = frames_of(from->content(kOpen));
  const auto new_frames = frames_of(copied);
  ASSERT_EQ(new_frames.size(), old_frames.size() + 2);  // index and trailer
  for (std::size_t i = 0; i < old_frames.size(); ++i) {
    EXPECT_EQ(new_frames[i].header.unix_ns, old_frames[i].header.unix_ns);
    EXPECT_EQ(new_frames[i].header.kind, old_frames[i].header.kind);
    EXPECT_EQ(new_frames[i].header.flags, old_frames[i].header.flags);
    if (i > 0) {
      EXPECT_EQ(new_frames[i].header.payload_crc, old_frames[i].header.payload_crc);
    }
  }
}

// For each frame of the run, its header or its payload damaged: the copy is whole, says what it lacks, and what it has
// is right.
TEST_F(Recover, EachFrameDamagedInTurn) {
  const auto from = golden();
  const auto steps = journal::golden_steps();
  for (const char* path : {kSealed, kOpen}) damage_each_frame(from, path, steps);
}

TEST_F(Recover, EachCompressedFrameDamagedInTurn) {
  const auto from = golden(Golden::kCompressed);
  damage_each_frame(from, kSealed, journal::golden_steps(Golden::kCompressed));
}

TEST_F(Recover, AStepWhoseEndIsLostIsTakenFromTheIndex) {
  const auto from = golden();
  std::string content = from->content(kSealed);
  std::size_t ends = 0;
  for (const FrameAt& frame : frames_of(content)) {
    if (frame.header.kind != format::FrameKind::kStepEnd) continue;
    content[frame.begin + 20] ^= 1;
    ++ends;
  }
  ASSERT_GT(ends, 0u);
  from->set_content(kSealed, content);
  const auto report = recover(from);
  ASSERT_TRUE(report.ok());
  expect_whole();
  const auto storage = storage::open_local_storage(to_);
  const auto reader = journal::JournalReader::open(*storage, report->info, "rank-00000", {.live = false});
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ((*reader)->steps().size(), journal::golden_steps().size());
}

TEST_F(Recover, EveryLengthThatAFileMayHaveBeenCutTo) {
  const auto from = golden();
  const std::string clean = from->content(kOpen);
  for (std::size_t bytes = 0; bytes < clean.size(); bytes += 331) {
    SCOPED_TRACE(bytes);
    from->set_content(kOpen, clean.substr(0, bytes));
    ASSERT_TRUE(recover(from).ok());
    expect_whole();
    expect_steps_are_right(journal::golden_steps(), false);
    if (HasFailure()) return;
  }
}

TEST_F(Recover, ASegmentThatIsGoneLeavesNoGap) {
  TestRun run;
  for (int i = 0; i < 3; ++i) {
    run.add({.step = i, .tensors = {kept("w", {static_cast<float>(i)})}});
    run.kill();
  }
  const auto from = run.storage();
  from->set_content("journal/rank-00000/seg-00000009.tw", from->content("journal/rank-00000/seg-00000001.tw"));
  const auto report = recover(from);
  ASSERT_TRUE(report.ok());
  std::set<std::string> causes;
  for (const CopyNote& note : report->lost) causes.insert(note.cause);
  EXPECT_TRUE(causes.contains("missing segment"));
  EXPECT_TRUE(causes.contains("segment that is not what its file name says"));
  expect_whole();
}

TEST_F(Recover, ADamagedRunFileIsMadeOfWhatSegmentsSay) {
  const auto from = golden();
  const auto original = journal::read_run(*from);
  from->set_content("run.json", "{\"id\": \"00");
  const auto report = recover(from);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->from_id, original->id);
  ASSERT_EQ(report->lost.size(), 1u);
  EXPECT_EQ(report->lost[0].path, "run.json");
  expect_whole();
  expect_steps_are_right(journal::golden_steps(), true);
}

TEST_F(Recover, BlackBoxesCheckpointsAndReportsComeAlong) {
  const auto from = golden();
  const std::string box = "blackbox/step-000001-rank-00000/";
  for (const std::string& file : journal::golden_files(Golden::kReductions)) {
    ASSERT_TRUE(from->create_folder((box + file).substr(0, (box + file).rfind('/'))).ok());
    from->set_content(box + file, golden(Golden::kReductions)->content(file));
  }
  from->set_content(box + "replay.json", "{}");
  ASSERT_TRUE(from->create_folder("blackbox/step-000002-rank-00000").ok());
  ASSERT_TRUE(from->create_folder("checkpoints/deep").ok());
  from->set_content("checkpoints/deep/model.pt", std::string(3 << 20, 'x'));
  ASSERT_TRUE(from->create_folder("control").ok());
  from->set_content("control/stop-abc.json", "{}");
  const auto report = recover(from);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(std::filesystem::file_size(to_ / "checkpoints/deep/model.pt"), std::uintmax_t{3 << 20});
  EXPECT_TRUE(std::filesystem::exists(to_ / box / "replay.json"));
  EXPECT_FALSE(std::filesystem::exists(to_ / "control"));
  ASSERT_EQ(report->lost.size(), 1u);
  EXPECT_EQ(report->lost[0].cause, "black box that was not finished");
  const auto checkup = examine(storage::Location(to_ / box));
  ASSERT_TRUE(checkup.ok()) << checkup.status().to_string();
  EXPECT_TRUE(checkup->whole());
}

TEST_F(Recover, WhatIsWrittenNowOrThereAlreadyIsRefused) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1})}});
  EXPECT_EQ(recover(run.storage()).status().code(), Code::kFailedPrecondition);
  EXPECT_FALSE(std::filesystem::exists(to_));
  const auto from = golden();
  ASSERT_TRUE(recover(from).ok());
  const auto again = recover_run({.from = storage::Location(from, "memory"), .to = to_});
  EXPECT_EQ(again.status().code(), Code::kAlreadyExists);
  const std::shared_ptr<storage::MemoryStorage> empty = storage::create_memory_storage();
  EXPECT_EQ(recover(empty).status().code(), Code::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(to_));
}

// Whatever the bytes are: no crash, and the copy of what is there is whole.
TEST_F(Recover, ManyWaysToSpoilASegment) {
  const auto from = golden(Golden::kSamples);
  const std::string clean = from->content(kSealed);
  std::uint32_t seed = 12345;
  const auto next = [&seed] { return seed = seed * 1664525u + 1013904223u; };
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    std::string spoiled = clean;
    const std::uint32_t places = 1 + next() % 6;
    for (std::uint32_t i = 0; i < places; ++i) {
      const std::size_t at = next() % spoiled.size();
      const std::size_t bytes = std::min<std::size_t>(1 + next() % 200, spoiled.size() - at);
      for (std::size_t k = 0; k < bytes; ++k) spoiled[at + k] = static_cast<char>(next() >> 24);
    }
    from->set_content(kSealed, spoiled);
    const auto report = recover(from);
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    expect_whole();
    expect_steps_are_right(journal::golden_steps(Golden::kSamples), false);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace trainwarden::upkeep
