#include "hook/capture/requests/examine_requests.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/base/bytes.h"
#include "data/format/control_record.h"
#include "store/storage/storage.h"

namespace trainwarden::capture {
namespace {

void put(storage::Storage& storage, const std::string& key, std::int64_t steps) {
  const std::string text = format::encode_examine_request({.key = key, .reason = "r", .steps = steps});
  ASSERT_TRUE(storage.put_if_absent(format::examine_request_path(key), as_bytes(text)).ok());
}

TEST(ExamineRequests, AreTakenOnceAndOfSeveralTheMost) {
  const std::shared_ptr<storage::Storage> storage = storage::create_memory_storage();
  ASSERT_TRUE(storage->create_folder(format::kControlFolder).ok());
  ExamineRequests requests(storage);
  EXPECT_EQ(requests.take(), 0);
  put(*storage, "a", 2);
  put(*storage, "b", 5);
  put(*storage, "c", 3);
  put(*storage, "too-many", format::kMaxExamineSteps + 1);
  EXPECT_EQ(requests.take(), 0);  // nobody has looked
  requests.look();
  EXPECT_EQ(requests.take(), 5);
  requests.look();
  EXPECT_EQ(requests.take(), 0);
}

TEST(ExamineRequests, WithoutAStorageNobodyAsks) {
  ExamineRequests requests(nullptr);
  requests.look();
  EXPECT_EQ(requests.take(), 0);
}

TEST(ExamineRequests, ComeBackAsTheyWere) {
  const format::ExamineRequest request{
      .key = "k", .reason = "a or b", .steps = 4, .requested_by = "watch-0", .unix_ns = 1'700'000'000'000'000'000};
  const auto read = format::decode_examine_request(format::encode_examine_request(request));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, request);
  EXPECT_EQ(format::examine_request_path("k"), "control/examine-k.json");
  for (const std::int64_t steps : {std::int64_t{0}, format::kMaxExamineSteps + 1}) {
    const auto refused = format::decode_examine_request(format::encode_examine_request({.key = "k", .steps = steps}));
    EXPECT_EQ(refused.status().code(), Code::kDataLoss) << steps;
  }
}

}  // namespace
}  // namespace trainwarden::capture
