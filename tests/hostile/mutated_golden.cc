// The golden runs, damaged and sealed again.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <fmt/format.h>
#include <test_paths.h>

#include "base/bytes.h"
#include "crafted_run.h"
#include "families.h"
#include "format/frame.h"

namespace trainwarden::hostile {
namespace {

namespace fs = std::filesystem;
using format::FrameKind;
using Random = std::mt19937_64;

constexpr std::array<const char*, 3> kGolden = {"v1", "v1-reductions", "v1-ledger"};

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), folder));
  }
  std::sort(files.begin(), files.end());
  return files;
}

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

// Numbers that parsers get wrong.
std::uint64_t interesting(Random& random) {
  constexpr std::array<std::uint64_t, 10> kOddNumbers = {
      0, 1, 0x7f, 0x80, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, ~std::uint64_t{0} >> 1, ~std::uint64_t{0}};
  return kOddNumbers[random() % kOddNumbers.size()];
}

// Some bytes from `begin` up to `end`.
void change_some(std::string& bytes, std::size_t begin, std::size_t end, Random& random) {
  const std::size_t room = end - begin;
  if (room == 0) return;
  const std::size_t changes = 1 + random() % 4;
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t at = begin + random() % room;
    switch (random() % 4) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1 << random() % 8)); break;
      case 1: bytes[at] = static_cast<char>(random()); break;
      case 2: bytes[at] = "0123456789[]{}\",:-"[random() % 18]; break;
      default: {
        const std::uint64_t number = interesting(random);
        const std::size_t width = std::min<std::size_t>(std::size_t{1} << random() % 4, end - at);
        for (std::size_t k = 0; k < width; ++k) bytes[at + k] = static_cast<char>(number >> 8 * k);
      }
    }
  }
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
