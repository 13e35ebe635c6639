// The golden runs, damaged and sealed again.
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <test_paths.h>

#include "core/base/bytes.h"
#include "crafted_run.h"
#include "data/format/frame.h"
#include "families.h"
#include "mutation.h"

namespace trainwarden::hostile {
namespace {

namespace fs = std::filesystem;
using format::FrameKind;

constexpr std::array<const char*, 5> kGolden = {"v1", "v1-reductions", "v1-samples", "v1-ledger", "v2"};

struct FramePlace {
  std::size_t offset = 0;
  format::FrameHeader header;
};

std::vector<FramePlace> frames_of(const std::string& segment) {
  std::vector<FramePlace> frames;
  for (std::size_t at = 0; at + format::kFrameHeaderBytes <= segment.size();) {
    const auto header = format::decode_frame_header(as_bytes(segment).subspan(at));
    if (!header.ok()) break;
    frames.push_back({at, *header});
    at += header->frame_bytes();
  }
  return frames;
}

bool is_data_kind(FrameKind kind) {
  return kind == FrameKind::kBundle || kind == FrameKind::kStatistics || kind == FrameKind::kScalars ||
         kind == FrameKind::kReductions;
}

}  // namespace

Mutated write_mutated(std::uint64_t seed, const fs::path& run) {
  Random random(seed);
  const fs::path golden = fs::path(TW_SOURCE_DIR) / "testdata/golden" / kGolden[random() % kGolden.size()];
  const std::vector<fs::path> files = files_of(golden);
  fs::remove_all(run);
  for (const fs::path& file : files) write_text(run / file, read_text(golden / file));

  const fs::path& file = files[random() % files.size()];
  std::string bytes = read_text(golden / file);
  Mutated mutated{fmt::format("seed {}: {}/{}", seed, golden.filename().string(), file.string())};
  const std::vector<FramePlace> frames = frames_of(bytes);
  if (frames.empty()) {
    change_some(bytes, 0, bytes.size(), random);
  } else {
    const FramePlace& frame = frames[random() % frames.size()];
    const std::size_t payload = frame.offset + format::kFrameHeaderBytes;
    const bool in_header = random() % 4 == 0;
    // A header keeps its magic, version and CRCs: what a reader does without them is tested elsewhere.
    if (in_header) change_some(bytes, frame.offset + 16, payload, random);
    if (!in_header) change_some(bytes, payload, payload + frame.header.payload_bytes, random);
    mutated.data_only = !in_header && is_data_kind(frame.header.kind);
    mutated.steps.push_back(frame.header.step);
    mutated.name += fmt::format(", {} at byte {}", format::name(frame.header.kind), frame.offset);
    bytes = resealed(std::move(bytes));
  }
  write_text(run / file, bytes);
  mutated.golden = golden;
  return mutated;
}

}  // namespace trainwarden::hostile
