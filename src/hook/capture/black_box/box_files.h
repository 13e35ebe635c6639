// BoxFiles: the files of a dump: a journal as every reader reads it, and replay.json (docs/format/black_box.md).
//
// Both are written to a sink and may be written by a signal handler: all text that is not made of numbers was made
// before. The same steps make the same bytes, whoever writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hook/capture/black_box/box_snapshot.h"
#include "hook/capture/black_box/byte_sink.h"
#include "store/journal/run_folder.h"
#include "trainwarden/collection.h"

namespace trainwarden::capture {

inline constexpr const char* kReplayFile = "replay.json";

// What all dumps of a hook have in common, made when the hook opens.
struct BoxHead {
  std::string run_id;         // journal::run_identity
  std::string run_json;       // the dump is a run of one worker
  std::string segment_start;  // payload of the first frame
  std::string run_end;        // payload of the last
  std::string run_text;       // "run_id": ..., "rank": ..., "world_size": ...; a part of replay.json
  std::uint32_t run_salt = 0;
  int rank = 0;
};
BoxHead make_box_head(const journal::RunInfo& run, int rank, std::int64_t pid,
                      const std::vector<Collection>& collections);

// Of one dump.
struct BoxCause {
  std::string_view why;            // a JSON object
  std::int64_t failing_step = -1;  // global; -1: the newest there is
  std::int64_t unix_ns = 0;
  const std::vector<std::string>* ranks = nullptr;  // BlackBox::ranks()
  std::uint32_t given_up = 0;                       // BlackBox::given_up()
  std::uint64_t steps_without_room = 0;
};

// The step that failed, or the newest; nullptr when it is not among them.
const BoxStep* failing_step_of(const BoxSnapshot& snapshot, const BoxCause& cause) noexcept;

void write_journal(const BoxHead& head, const BoxSnapshot& snapshot, std::int64_t unix_ns, ByteSink& out) noexcept;
void write_replay(const BoxHead& head, const BoxSnapshot& snapshot, const BoxCause& cause, ByteSink& out) noexcept;

// "step-000123-rank-00002", and "-1", "-2", ... behind it where that is taken.
std::string dump_name(std::int64_t step, int rank, int attempt);

}  // namespace trainwarden::capture
