// JournalContents: what a journal is known to hold, gathered from its segments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/frame.h"
#include "format/names_record.h"
#include "store/journal_reader.h"
#include "store/loss_list.h"
#include "trainwarden/collection.h"

namespace trainwarden::store {

// What a step consists of on disk.
struct StepData {
  std::uint32_t segment = 0;                // index of the segment among those of the journal
  bool loaded = false;                      // records are there, and frames are no longer needed
  std::vector<format::FrameHeader> frames;  // bundle, statistics, scalars
  std::vector<Record> records;
};

struct JournalContents {
  std::vector<TensorEntry> tensors;
  std::vector<StepEntry> steps;
  std::vector<StepData> step_data;  // beside steps
  std::vector<EventEntry> events;
  std::vector<Collection> collections;
  LossList losses;
  std::unordered_map<std::string, std::uint32_t> tensor_by_name;  // indexes into tensors

  // The index of the tensor of this name, which is added when it is new.
  std::uint32_t tensor_index(std::string_view name);
  std::uint32_t add_name(const format::NameEntry& entry);
  // A later definition of a collection takes the place of the earlier one.
  void add_collections(std::span<const Collection> added);
};

}  // namespace trainwarden::store
