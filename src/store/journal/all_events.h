// All events of a journal at once, for tests.
#pragma once

#include <vector>

#include <gtest/gtest.h>

#include "store/journal/journal_reader.h"

namespace trainwarden::journal {

inline std::vector<EventEntry> all_events(JournalReader& reader) {
  std::vector<EventEntry> events;
  const Status status = reader.visit_events(0, [&](std::size_t index, const EventEntry& event) {
    EXPECT_EQ(index, events.size());
    events.push_back(event);
  });
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(events.size(), reader.event_count());
  return events;
}

}  // namespace trainwarden::journal
