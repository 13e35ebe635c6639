#include "hook/capture/requests/stop_requests.h"

#include <gtest/gtest.h>

#include "data/format/request_address.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::capture {
namespace {

void put_stop_request(storage::Storage& storage, const std::string& key) {
  const format::StopRequest request{.key = key, .reason = "because " + key, .requested_by = "test", .unix_ns = 1};
  ASSERT_TRUE(storage.create_folder(format::kControlFolder).ok());
  ASSERT_TRUE(
      storage.put_if_absent(format::stop_request_path(key), as_bytes(format::encode_stop_request(request))).ok());
}

TEST(StopRequests, EachIsReportedOnce) {
  const std::shared_ptr<storage::Storage> storage = storage::create_memory_storage();
  StopRequests requests(storage, {});
  EXPECT_TRUE(requests.poll().empty()) << "there is not even a folder";
  put_stop_request(*storage, "a");
  auto found = requests.poll();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].key, "a");
  EXPECT_EQ(found[0].reason, "because a");
  EXPECT_TRUE(requests.poll().empty());
  put_stop_request(*storage, "b");
  EXPECT_EQ(requests.poll().size(), 1u);
}

TEST(StopRequests, WhatAnEarlierProcessAcceptedIsOver) {
  const std::shared_ptr<storage::Storage> storage = storage::create_memory_storage();
  put_stop_request(*storage, "old");
  put_stop_request(*storage, "new");
  const format::StopRequest old{.key = "old"};
  const journal::EventEntry events[] = {
      {.kind = format::FrameKind::kEvent, .json = encode_stop_accepted(old, 5)},
      {.kind = format::FrameKind::kEvent, .json = R"({"type":"run_end","state":"completed","reason":""})"},
      {.kind = format::FrameKind::kEvent, .json = "no JSON"},
      {.kind = format::FrameKind::kVerdict, .json = R"({"type":"stop_accepted","key":"new"})"},
  };
  EXPECT_EQ(accepted_stop_keys(events), (std::set<std::string>{"old"}));
  StopRequests requests(storage, accepted_stop_keys(events));
  const auto found = requests.poll();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].key, "new");
}

TEST(StopRequests, FilesThatAreNoneArePassedOver) {
  const std::shared_ptr<storage::Storage> storage = storage::create_memory_storage();
  ASSERT_TRUE(storage->create_folder(format::kControlFolder).ok());
  ASSERT_TRUE(storage->put_if_absent("control/notes.txt", as_bytes("x")).ok());
  ASSERT_TRUE(storage->put_if_absent("control/stop-broken.json", as_bytes("{")).ok());
  put_stop_request(*storage, "good");
  StopRequests requests(storage, {});
  const auto found = requests.poll();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].key, "good");
}

// As it is when the run's folder was made again, and somebody still has the old one in mind.
TEST(StopRequests, WhatIsMeantForAnotherRunIsPassedOver) {
  const std::shared_ptr<storage::Storage> storage = storage::create_memory_storage();
  put_stop_request(*storage, "to-whoever-lies-here");
  for (const std::string run : {"one", "other"}) {
    const std::string text = format::encode_stop_request({.key = run, .requested_by = "test", .unix_ns = 1});
    ASSERT_TRUE(
        storage->put_if_absent(format::stop_request_path(run), as_bytes(format::address_request(text, run))).ok());
  }
  StopRequests requests(storage, {}, "one");
  const auto found = requests.poll();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].key, "one");
  EXPECT_EQ(found[1].key, "to-whoever-lies-here");
}

TEST(StopRequests, WithoutAStorageNobodyAsks) {
  EXPECT_TRUE(StopRequests(nullptr, {}).poll().empty());
}

TEST(StopRequests, TheAcceptanceSaysWhatWasAccepted) {
  const format::StopRequest request{.key = "k", .reason = "r", .requested_by = "watch-0"};
  EXPECT_EQ(encode_stop_accepted(request, 7),
            R"({"type":"stop_accepted","key":"k","reason":"r","requested_by":"watch-0","global_step":7})");
}

// Where a file system cannot put a file whole, or lists it before it can be opened, a request is there in parts first.
TEST(StopRequests, OneThatIsOnItsWayIsTakenWhenItIsWhole) {
  const std::shared_ptr<storage::MemoryStorage> storage = storage::create_memory_storage();
  const std::string path = format::stop_request_path("late");
  const std::string whole =
      format::encode_stop_request({.key = "late", .reason = "r", .requested_by = "t", .unix_ns = 1});
  StopRequests requests(storage, {});
  for (std::size_t bytes = 0; bytes + 2 < whole.size(); ++bytes) {  // its last two are "}\n"
    storage->set_content(path, whole.substr(0, bytes));
    ASSERT_TRUE(requests.poll().empty()) << bytes << " bytes";
  }
  storage->set_content(path, whole);
  EXPECT_EQ(requests.poll().size(), 1u);
  EXPECT_TRUE(requests.poll().empty());
}

}  // namespace
}  // namespace trainwarden::capture
