#include "hook/capture/tensor_table.h"

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
  TensorEntry* add(std::string_view name) {
    return table_.add(name, [&](std::string_view added) -> const Membership& { return plan_->membership_of(added); });
  }

  std::unique_ptr<CapturePlan> plan_;
  TensorTable table_;
};

TEST_F(TensorTableTest, FindsWhatWasAdded) {
  EXPECT_EQ(table_.find("a"), nullptr);
  TensorEntry* a = add("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(add("a"), a);
  EXPECT_EQ(table_.find("a"), a);
  EXPECT_EQ(table_.find(TensorId{a->id}), a);
  EXPECT_EQ(table_.find(TensorId{a->id + 1}), nullptr);
  EXPECT_EQ(table_.find(TensorId()), nullptr);
}

TEST_F(TensorTableTest, AnyBytesAreAName) {
  const std::string names[] = {"", std::string("\0a", 2), std::string("\0b", 2), "\xff\xfe", "ü\n"};
  for (const std::string& name : names) add(name);
  for (const std::string& name : names) {
    ASSERT_NE(table_.find(name), nullptr);
    EXPECT_EQ(table_.find(name)->name, name);
  }
}

TEST_F(TensorTableTest, EntriesStayWhereTheyAreAsItGrows) {
  std::vector<TensorEntry*> entries;
  for (int i = 0; i < 5000; ++i) entries.push_back(add("tensor" + std::to_string(i)));
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(table_.find("tensor" + std::to_string(i)), entries[static_cast<std::size_t>(i)]);
    EXPECT_EQ(table_.find(TensorId{static_cast<std::uint32_t>(i)}), entries[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(table_.find("tensor5000"), nullptr);
}

TEST_F(TensorTableTest, LongNamesAreRefused) {
  EXPECT_NE(add(std::string(TensorTable::kMaxNameBytes, 'x')), nullptr);
  EXPECT_EQ(add(std::string(TensorTable::kMaxNameBytes + 1, 'x')), nullptr);
}

TEST_F(TensorTableTest, ASuffixedEntryFollowsItsBase) {
  TensorEntry* base = add("loss_output");
  TensorEntry* suffixed = table_.add_suffixed(*base, 1);
  ASSERT_NE(suffixed, nullptr);
  EXPECT_EQ(suffixed->name, "loss_output#1");
  EXPECT_EQ(table_.add_suffixed(*base, 1), suffixed);
  EXPECT_EQ(suffixed->membership.load(), base->membership.load());
  table_.update_memberships([&](const TensorEntry& entry) -> const Membership& {
    return plan_->membership_of(entry.name == "loss_output" ? "weight" : entry.name);
  });
  EXPECT_EQ(plan_->names_of(*suffixed->membership), (std::vector<std::string>{"all", "weights"}));
}

TEST_F(TensorTableTest, ManyThreadsAddAndFind) {
  constexpr int kThreads = 4;
  constexpr int kNames = 2000;
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kNames; ++i) {
          const std::string name = "name" + std::to_string((i * 7 + t * 13) % kNames);
          const TensorEntry* entry = add(name);
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
