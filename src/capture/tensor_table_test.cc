#include "capture/tensor_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace trainwarden::capture {
namespace {

class TensorTableTest : public testing::Test {
 protected:
  TensorTableTest() : plan_(*CapturePlan::resolve(HookOptions())) {}
  const Membership& none() { return plan_->membership_of("x"); }

  std::unique_ptr<CapturePlan> plan_;
  TensorTable table_;
};

TEST_F(TensorTableTest, FindsWhatWasAdded) {
  EXPECT_EQ(table_.find("a"), nullptr);
  TensorEntry* a = table_.add("a", none());
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(table_.add("a", none()), a);
  EXPECT_EQ(table_.find("a"), a);
  EXPECT_EQ(table_.find(TensorId{a->id}), a);
  EXPECT_EQ(table_.find(TensorId{a->id + 1}), nullptr);
  EXPECT_EQ(table_.find(TensorId()), nullptr);
}

TEST_F(TensorTableTest, AnyBytesAreAName) {
  const std::string names[] = {"", std::string("\0a", 2), std::string("\0b", 2), "\xff\xfe", "ü\n"};
  for (const std::string& name : names) table_.add(name, none());
  for (const std::string& name : names) {
    ASSERT_NE(table_.find(name), nullptr);
    EXPECT_EQ(table_.find(name)->name, name);
  }
}

TEST_F(TensorTableTest, EntriesStayWhereTheyAreAsItGrows) {
  std::vector<TensorEntry*> entries;
  for (int i = 0; i < 5000; ++i) entries.push_back(table_.add("tensor" + std::to_string(i), none()));
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(table_.find("tensor" + std::to_string(i)), entries[static_cast<std::size_t>(i)]);
    EXPECT_EQ(table_.find(TensorId{static_cast<std::uint32_t>(i)}), entries[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(table_.find("tensor5000"), nullptr);
}

TEST_F(TensorTableTest, LongNamesAreRefused) {
  EXPECT_NE(table_.add(std::string(TensorTable::kMaxNameBytes, 'x'), none()), nullptr);
  EXPECT_EQ(table_.add(std::string(TensorTable::kMaxNameBytes + 1, 'x'), none()), nullptr);
}

TEST_F(TensorTableTest, ManyThreadsAddAndFind) {
  constexpr int kThreads = 4;
  constexpr int kNames = 2000;
  const Membership& membership = none();
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kNames; ++i) {
          const std::string name = "name" + std::to_string((i * 7 + t * 13) % kNames);
          const TensorEntry* entry = table_.add(name, membership);
          if (entry == nullptr || table_.find(name) != entry || table_.find(TensorId{entry->id}) != entry) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_NE(table_.find(TensorId{kNames - 1}), nullptr);
  EXPECT_EQ(table_.find(TensorId{kNames}), nullptr) << "each name once, whoever was first";
}

}  // namespace
}  // namespace trainwarden::capture
