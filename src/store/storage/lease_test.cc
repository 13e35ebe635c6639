#include "store/storage/lease.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/base/boot_id.h"
#include "store/storage/forwarding_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::storage {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr const char* kPath = "journal/writer";

// As an object storage, or a network file system that has no locks.
class StorageWithoutLocks final : public ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  Result<std::unique_ptr<Lock>> lock(const std::string&) override {
    return Status(Code::kUnimplemented, "this storage has no locks");
  }
  bool locked(const std::string&) const override { return false; }
};

class LeaseTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(memory_->create_folder("journal").ok()); }

  std::unique_ptr<Lease> take(Storage& storage) {
    auto lease = take_lease(storage, kPath, clock_);
    EXPECT_TRUE(lease.ok()) << lease.status().to_string();
    return *std::move(lease);
  }
  // As a process on another machine leaves it.
  void promise_from_elsewhere(std::int64_t next_unix_ns) {
    memory_->set_content("journal/writer.lease", R"({"holder":"x","boot":"another","locked":true,"next_unix_ns":)" +
                                                     std::to_string(next_unix_ns) + "}");
  }

  FakeClock clock_;
  const std::unique_ptr<MemoryStorage> memory_ = create_memory_storage(clock_);
  StorageWithoutLocks without_locks_{*memory_};
};

TEST_F(LeaseTest, ItsEndIsSeenAtOnceWhereLocksAre) {
  auto lease = take(*memory_);
  EXPECT_TRUE(is_leased(*memory_, kPath, clock_));
  EXPECT_EQ(take_lease(*memory_, kPath, clock_).status().code(), Code::kAlreadyExists);
  lease.reset();  // as by a kill: the promise is still there
  EXPECT_TRUE(memory_->exists("journal/writer.lease"));
  EXPECT_FALSE(is_leased(*memory_, kPath, clock_));
  EXPECT_TRUE(take_lease(*memory_, kPath, clock_).ok());
}

TEST_F(LeaseTest, WithoutLocksThePromiseCounts) {
  auto lease = take(without_locks_);
  EXPECT_TRUE(is_leased(without_locks_, kPath, clock_));
  const Status refused = take_lease(without_locks_, kPath, clock_).status();
  EXPECT_EQ(refused.code(), Code::kAlreadyExists);
  EXPECT_NE(refused.message().find("within 60 s"), std::string::npos) << refused.message();
  lease.reset();
  EXPECT_TRUE(is_leased(without_locks_, kPath, clock_));
  clock_.advance_ns(kLeasePromiseNs + kLeaseSlackNs);
  EXPECT_FALSE(is_leased(without_locks_, kPath, clock_));
  EXPECT_TRUE(take_lease(without_locks_, kPath, clock_).ok());
}

TEST_F(LeaseTest, BeatsKeepItAlive) {
  const auto lease = take(without_locks_);
  for (int i = 0; i < 30; ++i) {
    clock_.advance_ns(kLeaseBeatNs);
    EXPECT_TRUE(is_leased(without_locks_, kPath, clock_));
    ASSERT_TRUE(lease->beat().ok());
  }
}

TEST_F(LeaseTest, BeatsBetweenBeatsWriteNothing) {
  const auto lease = take(*memory_);
  const auto before = memory_->info("journal/writer.lease");
  clock_.advance_ns(kLeaseBeatNs - 1);
  ASSERT_TRUE(lease->beat().ok());
  EXPECT_EQ(memory_->info("journal/writer.lease")->identity, before->identity);
  clock_.advance_ns(1);
  ASSERT_TRUE(lease->beat().ok());
  EXPECT_NE(memory_->info("journal/writer.lease")->identity, before->identity);
}

TEST_F(LeaseTest, WhoEndsItLetsNobodyWait) {
  const auto lease = take(without_locks_);
  ASSERT_TRUE(lease->end().ok());
  EXPECT_FALSE(is_leased(without_locks_, kPath, clock_));
  ASSERT_TRUE(lease->beat().ok());
  EXPECT_TRUE(is_leased(without_locks_, kPath, clock_));
}

TEST_F(LeaseTest, OfAnotherMachineThePromiseCountsBesideAFreeLock) {
  promise_from_elsewhere(clock_.unix_ns() + 20 * kSecond);
  EXPECT_TRUE(is_leased(*memory_, kPath, clock_));
  clock_.advance_ns(20 * kSecond + kLeaseSlackNs);
  EXPECT_FALSE(is_leased(*memory_, kPath, clock_));
}

// The lock says who may write: a job that was moved to this machine does not wait for the promise of a dead one.
TEST_F(LeaseTest, APromiseFromElsewhereDoesNotKeepOthersFromAFreeLock) {
  promise_from_elsewhere(clock_.unix_ns() + 20 * kSecond);
  EXPECT_TRUE(take_lease(*memory_, kPath, clock_).ok());
}

TEST_F(LeaseTest, APromiseForEverIsNone) {
  promise_from_elsewhere(clock_.unix_ns() + 1'000'000 * kSecond);
  EXPECT_FALSE(is_leased(*memory_, kPath, clock_));
}

TEST_F(LeaseTest, WhatIsNoPromiseIsNone) {
  for (const std::string text :
       {"", "{}", "[1]", "null", "{\"holder\":1}", "\xff\xfe", "{\"holder\":\"x\",\"boot\":"}) {
    memory_->set_content("journal/writer.lease", text);
    EXPECT_FALSE(is_leased(*memory_, kPath, clock_)) << text;
  }
  memory_->set_content("journal/writer.lease", std::string(100'000, '['));
  EXPECT_FALSE(is_leased(*memory_, kPath, clock_));
}

TEST_F(LeaseTest, TheSystemHasAnIdentity) {
  EXPECT_EQ(boot_id().size(), 36u);
}

// Wall clocks jump: a battery is empty, somebody sets one by hand, a server of the time comes back.
TEST_F(LeaseTest, WithoutLocksNoClockThatJumpsLetsASecondOneIn) {
  const auto lease = take(without_locks_);
  clock_.advance_ns(8 * kSecond);
  for (const std::int64_t jump : {-100 * kSecond, -3'600 * kSecond, 3'600 * kSecond, 300'000'000 * kSecond}) {
    const FakeClock jumped(clock_.unix_ns() + jump);
    EXPECT_FALSE(is_leased(without_locks_, kPath, jumped)) << jump << ": by its own clock it would be over";
    EXPECT_TRUE(may_be_leased(without_locks_, kPath, jumped).value_or(false)) << jump;
    const Status refused = take_lease(without_locks_, kPath, jumped).status();
    EXPECT_EQ(refused.code(), Code::kAlreadyExists) << jump;
    EXPECT_NE(refused.message().find("within 60 s"), std::string::npos) << refused.message();
  }
}

TEST_F(LeaseTest, WithoutLocksADeadOneIsFollowedWhateverItsClockSaid) {
  FakeClock jumped(clock_.unix_ns() + 300'000'000 * kSecond);
  take_lease(without_locks_, kPath, jumped).value().reset();
  EXPECT_FALSE(take_lease(without_locks_, kPath, clock_).ok());
  clock_.advance_ns(kLeasePromiseNs + kLeaseSlackNs);
  EXPECT_FALSE(may_be_leased(without_locks_, kPath, clock_).value_or(true));
  EXPECT_TRUE(take_lease(without_locks_, kPath, clock_).ok());
}

TEST_F(LeaseTest, WithoutLocksWhoWasTakenForDeadWritesNoMore) {
  const auto stopped = take(without_locks_);
  clock_.advance_ns(kLeasePromiseNs + kLeaseSlackNs);
  const auto next = take(without_locks_);
  EXPECT_TRUE(stopped->beat().ok()) << "it may be left over of a dead process";
  clock_.advance_ns(kLeaseBeatNs);
  ASSERT_TRUE(next->beat().ok());
  EXPECT_EQ(stopped->beat().code(), Code::kAlreadyExists);
  clock_.advance_ns(10 * kLeaseBeatNs);
  EXPECT_EQ(stopped->beat().code(), Code::kAlreadyExists);
  EXPECT_TRUE(next->beat().ok());
  EXPECT_TRUE(stopped->end().ok());
  EXPECT_TRUE(is_leased(without_locks_, kPath, clock_)) << "it does not end what is not its own";
}

// A request of a process that was killed may reach a bucket after the next one has begun.
TEST_F(LeaseTest, WithoutLocksALeftOverPromiseDoesNotStopWhoLives) {
  auto dead = take(without_locks_);
  const std::string late = memory_->content("journal/writer.lease");
  dead.reset();
  clock_.advance_ns(kLeasePromiseNs + kLeaseSlackNs);
  const auto lease = take(without_locks_);
  memory_->set_content("journal/writer.lease", late);
  for (int i = 0; i < 4; ++i) {
    clock_.advance_ns(kLeaseBeatNs);
    EXPECT_TRUE(lease->beat().ok());
  }
  EXPECT_NE(memory_->content("journal/writer.lease"), late);
  EXPECT_TRUE(is_leased(without_locks_, kPath, clock_));
}

// A network file system says so of a file that was replaced while it was open (ESTALE).
class StorageOfStalePromises final : public ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  mutable int failures = 0;
  Result<std::string> read(const std::string& path, std::uint64_t limit_bytes) const override {
    if (failures-- > 0) return Status(Code::kUnavailable, "stale file handle");
    return base().read(path, limit_bytes);
  }
};

TEST_F(LeaseTest, AHolderWhosePromiseCannotBeReadIsNotTakenForGone) {
  promise_from_elsewhere(clock_.unix_ns() + 10 * kSecond);
  StorageOfStalePromises stale(*memory_);
  stale.failures = 1;
  EXPECT_TRUE(is_leased(stale, kPath, clock_));
  stale.failures = 1'000;
  EXPECT_TRUE(is_leased(stale, kPath, clock_));
  promise_from_elsewhere(clock_.unix_ns() - 100 * kSecond);
  stale.failures = 1;
  EXPECT_FALSE(is_leased(stale, kPath, clock_)) << "the next try says that it is over";
}

TEST_F(LeaseTest, NothingIsTakenWhereThePromiseOfAnotherCannotBeRead) {
  StorageOfStalePromises stale(without_locks_);
  stale.failures = 1'000;
  EXPECT_EQ(take_lease(stale, kPath, clock_).status().code(), Code::kUnavailable);
}

}  // namespace
}  // namespace trainwarden::storage
