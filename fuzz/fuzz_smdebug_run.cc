// Fuzzes a trial of a folder of smdebug's: an event file whose checksums are made anew, with an index that is made of
// its records or, when the first byte is odd, is the input's too. Two bytes 0xFF 0x0A part manifest, index and events.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "data/foreign/smdebug_index.h"
#include "data/foreign/smdebug_layout.h"
#include "data/foreign/tf_event.h"
#include "read/trial/trial_access.h"
#include "sealed_frames.h"
#include "store/storage/memory_storage.h"
#include "trial_questions.h"

namespace {

using namespace trainwarden;

constexpr std::string_view kPartEnd = "\xFF\x0A";
constexpr std::string_view kWorker = "worker_0";

std::string_view take_part(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(kPartEnd), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + kPartEnd.size(), rest.size()));
  return part;
}

// Each record under the tag that it has, so that it will be read.
std::string index_of(std::string_view events, const std::string& event_file) {
  foreign::SmdebugIndex index;
  index.event_file = event_file;
  foreign::RecordWalk walk(as_bytes(events));
  for (std::uint64_t begin = walk.offset();; begin = walk.offset()) {
    const auto payload = walk.next();
    if (!payload.ok() || !*payload) break;
    const auto event = foreign::decode_event(**payload);
    if (!event.ok() || event->values.empty()) continue;
    index.tensors.push_back({event->values[0].tag, begin, walk.offset() - begin});
  }
  return foreign::encode_smdebug_index(index);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string manifest(take_part(rest));
  const std::string index(take_part(rest));
  const std::string events = fuzz::seal_records(rest);
  const std::string event_file = foreign::smdebug_event_file(1, kWorker);
  const std::shared_ptr<storage::MemoryStorage> storage = storage::create_memory_storage();
  storage->set_content(foreign::smdebug_manifest_file(kWorker), manifest);
  storage->set_content(foreign::smdebug_index_file(1, kWorker),
                       (data[0] & 1) != 0 ? index : index_of(events, event_file));
  storage->set_content(event_file, events);
  const auto trial = TrialAccess::open(storage);
  if (trial.ok()) fuzz::ask_everything(**trial);
  return 0;
}
