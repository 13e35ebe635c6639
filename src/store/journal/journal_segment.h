// JournalSegment: one segment of a journal while it is read.
#pragma once

#include <cstdint>
#include <utility>

#include "store/journal/journal_contents.h"
#include "store/journal/segment_decoder.h"
#include "store/journal/segment_file.h"
#include "store/journal/segment_intake.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::journal {

struct JournalSegment {
  // `storage` and `contents` must outlive it.
  JournalSegment(const storage::Storage& storage, const FrameOwner& owner, SegmentIdentity identity,
                 JournalContents& contents)
      : budget(*contents.budget),
        file(storage, budget, *contents.open_files, identity.path),
        intake(contents, std::move(identity)),
        decoder(owner, intake) {}
  JournalSegment(const JournalSegment&) = delete;
  JournalSegment& operator=(const JournalSegment&) = delete;

  ReadBudget& budget;
  SegmentFile file;
  SegmentIntake intake;
  SegmentDecoder decoder;        // of the header walk
  std::uint64_t seen_bytes = 0;  // how long the file was when it was last looked at
  bool over = false;             // everything that it will ever hold has been taken in
  bool may_grow = false;         // a living process may be writing it: what is not whole may not have come yet
  bool presumed_over = false;    // its writer seemed to be gone in the midst of a write; should it grow, it was not
};

// Gives the decoder what it asks for, up to `file_bytes`, and refuses it what is over the budget. An error of the
// storage leaves everything as it was: call again.
Status walk(SegmentFile& file, SegmentDecoder& decoder, ReadBudget& budget, std::uint64_t file_bytes);

// Takes a sealed segment in through its index. False, with nothing taken in, when it is not sealed, or when its index
// or what else it needs is damaged: then the header walk must do.
Result<bool> take_sealed(JournalSegment& segment);

// Reads every frame up to `file_bytes` and checks it. Damage is added to the losses.
Status verify_frames(JournalSegment& segment, std::uint64_t file_bytes);

// Is it what was read that fails, and not the reading? Then it is a loss of the run, with this cause.
bool is_damage(const Status& status);
std::string_view cause_of(const Status& damage, std::string_view of_data_loss = kDamagedPayload);

}  // namespace trainwarden::journal
