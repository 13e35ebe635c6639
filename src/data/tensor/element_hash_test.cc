#include "data/tensor/element_hash.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "data/tensor/reference_statistics.h"

namespace trainwarden {
namespace {

// The formula as the header has it, with the powers spelt out.
std::uint64_t hash_by_definition(const std::vector<std::uint64_t>& components) {
  constexpr std::uint64_t kR = 0x9e3779b97f4a7c15;
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const std::uint64_t product = components[i] * 0x9e3779b1;
    std::uint64_t term = product ^ (product >> 32) ^ 0xd6e8feb86659fd93;
    for (std::size_t k = i + 1; k < components.size(); ++k) term *= kR;
    hash += term;
  }
  return hash;
}

template <class T>
std::uint64_t hash(const std::vector<T>& components, std::uint64_t before = 0) {
  return append_hash(before, components.data(), components.size(), sizeof(T));
}

template <class T>
std::vector<T> random_components(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<T> components(count);
  for (T& component : components) component = static_cast<T>(random());
  return components;
}

template <class T>
void expect_definition() {
  for_each_target([] {
    for (std::size_t count = 0; count < 150; ++count) {
      const std::vector<T> components = random_components<T>(count);
      ASSERT_EQ(hash(components), hash_by_definition({components.begin(), components.end()})) << count << " components";
    }
  });
}

TEST(ElementHash, IsItsDefinitionOnEveryCpu) {
  expect_definition<std::uint8_t>();
  expect_definition<std::uint16_t>();
  expect_definition<std::uint32_t>();
  expect_definition<std::uint64_t>();
}

TEST(ElementHash, KnownValues) {
  EXPECT_EQ(hash<std::uint32_t>({}), 0u);
  EXPECT_EQ(hash<std::uint32_t>({0}), 0xd6e8feb86659fd93u);
  EXPECT_EQ(hash<std::uint32_t>({1}), 0xd6e8feb86659fd93u ^ 0x9e3779b1u);
}

TEST(ElementHash, PartsJoin) {
  const std::vector<std::uint32_t> all = random_components<std::uint32_t>(1000);
  const std::uint64_t whole = hash(all);
  for (std::size_t split = 0; split <= all.size(); split += 7) {
    const std::vector<std::uint32_t> head(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(split));
    const std::vector<std::uint32_t> tail(all.begin() + static_cast<std::ptrdiff_t>(split), all.end());
    ASSERT_EQ(join_hashes(hash(head), hash(tail), tail.size()), whole);
    ASSERT_EQ(hash(tail, hash(head)), whole);
  }
}

TEST(ElementHash, ReadsUnalignedMemory) {
  const std::vector<std::uint32_t> components = random_components<std::uint32_t>(333);
  std::vector<std::byte> shifted(4 * components.size() + 1);
  std::memcpy(shifted.data() + 1, components.data(), 4 * components.size());
  for_each_target([&] { EXPECT_EQ(append_hash(0, shifted.data() + 1, components.size(), 4), hash(components)); });
}

TEST(ElementHash, EveryFlippedBitAndExchangeShows) {
  std::vector<std::uint32_t> components = random_components<std::uint32_t>(64);
  std::set<std::uint64_t> seen = {hash(components)};
  for (std::size_t i = 0; i < components.size(); ++i) {
    for (int bit = 0; bit < 32; ++bit) {
      components[i] ^= std::uint32_t{1} << bit;
      EXPECT_TRUE(seen.insert(hash(components)).second);
      components[i] ^= std::uint32_t{1} << bit;
    }
  }
  for (std::size_t i = 0; i + 1 < components.size(); ++i) {
    std::swap(components[i], components[i + 1]);
    EXPECT_TRUE(seen.insert(hash(components)).second);
    std::swap(components[i], components[i + 1]);
  }
}

TEST(ElementHash, ZerosOfDifferentLengthsDiffer) {
  std::set<std::uint64_t> seen;
  for (std::size_t count = 0; count < 500; ++count) {
    EXPECT_TRUE(seen.insert(hash(std::vector<std::uint16_t>(count))).second);
  }
}

}  // namespace
}  // namespace trainwarden
