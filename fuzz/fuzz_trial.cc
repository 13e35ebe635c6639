// Fuzzes a trial of a whole run of ours: run.json and the segments of two workers and of an engine, with checksums made
// anew so that the input goes deeper than they do. Two bytes 0xFF 0x0A part one segment from the next.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "read/trial/trial_access.h"
#include "sealed_frames.h"
#include "store/journal/run_folder.h"
#include "store/storage/memory_storage.h"
#include "trial_questions.h"

namespace {

using namespace trainwarden;

constexpr std::string_view kSegmentEnd = "\xFF\x0A";
struct Place {
  const char* writer;
  std::uint64_t segment;
};
constexpr std::array<Place, 4> kPlaces = {Place{"rank-00000", 0}, Place{"rank-00000", 1}, Place{"rank-00001", 0},
                                          Place{"watch-0", 0}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  journal::RunInfo info;
  info.id = "00112233445566778899aabbccddeeff";
  info.world_size = 2;
  const std::shared_ptr<storage::MemoryStorage> storage = storage::create_memory_storage();
  storage->set_content(journal::kRunFile, journal::encode_run_info(info));
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (const Place& place : kPlaces) {
    const std::size_t end = std::min(rest.find(kSegmentEnd), rest.size());
    std::string segment(rest.substr(0, end));
    fuzz::seal_frames(segment, journal::run_salt(info), journal::writer_id_of(place.writer).value_or(0));
    storage->set_content(journal::journal_folder(place.writer) + "/" + journal::segment_file(place.segment),
                         std::move(segment));
    rest.remove_prefix(std::min(end + kSegmentEnd.size(), rest.size()));
  }
  const auto trial = TrialAccess::open(storage);
  if (trial.ok()) fuzz::ask_everything(**trial);
  return 0;
}
