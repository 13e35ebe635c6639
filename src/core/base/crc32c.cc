// CRC-32C: the CPU's instruction on three interleaved streams, and a table-driven twin.
//
// The register is linear over GF(2), so the CRC of a‖b is shift(crc(a), bytes of b) ^ crc(b), where shift() appends
// zero bytes. That is what lets three streams run side by side: the instruction has a latency of three cycles but can
// start every cycle.
#include "core/base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace trainwarden {
namespace {

constexpr std::size_t kCacheLineBytes = 64;
constexpr std::uint32_t kPolynomial = 0x82f63b78;  // 0x1EDC6F41 with its bits reversed

using Table = std::array<std::uint32_t, 256>;

// kSliceTables[k][b]: the register after byte b and k zero bytes. Source: Kounavis and Berry, "A Systematic Approach to
// Building High Performance Software-based CRC Generators" (slicing-by-8).
constexpr std::array<Table, 8> make_slice_tables() {
  std::array<Table, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}
constexpr std::array<Table, 8> kSliceTables = make_slice_tables();

std::uint32_t portable_register(std::uint32_t crc, ByteSpan bytes) {
  const auto& t = kSliceTables;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    const std::uint64_t word = load_le<std::uint64_t>(bytes, at) ^ crc;
    crc = t[7][word & 0xff] ^ t[6][(word >> 8) & 0xff] ^ t[5][(word >> 16) & 0xff] ^ t[4][(word >> 24) & 0xff] ^
          t[3][(word >> 32) & 0xff] ^ t[2][(word >> 40) & 0xff] ^ t[1][(word >> 48) & 0xff] ^ t[0][word >> 56];
  }
  for (; at < bytes.size(); ++at) crc = (crc >> 8) ^ t[0][(crc ^ std::to_integer<std::uint32_t>(bytes[at])) & 0xff];
  return crc;
}

#if defined(__x86_64__)

// Appends a fixed number of zero bytes to a register: four look-ups.
using ShiftTable = std::array<Table, 4>;

// Column i is what the operator makes of a register that holds bit i alone.
using Matrix = std::array<std::uint32_t, 32>;

constexpr std::uint32_t multiply(const Matrix& matrix, std::uint32_t crc) {
  std::uint32_t product = 0;
  for (std::size_t bit = 0; bit < 32; ++bit) product ^= ((crc >> bit) & 1) != 0 ? matrix[bit] : 0;
  return product;
}

constexpr ShiftTable make_shift_table(int log2_zero_bytes) {
  Matrix matrix{};
  for (std::size_t bit = 0; bit < 32; ++bit) {
    const std::uint32_t crc = std::uint32_t{1} << bit;
    matrix[bit] = (crc >> 8) ^ kSliceTables[0][crc & 0xff];
  }
  for (int i = 0; i < log2_zero_bytes; ++i) {
    Matrix squared{};
    for (std::size_t bit = 0; bit < 32; ++bit) squared[bit] = multiply(matrix, matrix[bit]);
    matrix = squared;
  }
  ShiftTable table{};
  for (std::size_t k = 0; k < table.size(); ++k) {
    for (std::uint32_t byte = 0; byte < 256; ++byte) table[k][byte] = multiply(matrix, byte << (8 * k));
  }
  return table;
}

// Two stream lengths: long ones spend the look-ups rarely, short ones serve small inputs.
constexpr int kLog2LongStreamBytes = 12;
constexpr int kLog2ShortStreamBytes = 8;
constexpr ShiftTable kLongShift = make_shift_table(kLog2LongStreamBytes);
constexpr ShiftTable kShortShift = make_shift_table(kLog2ShortStreamBytes);

std::uint64_t shift(const ShiftTable& table, std::uint64_t crc) {
  return table[0][crc & 0xff] ^ table[1][(crc >> 8) & 0xff] ^ table[2][(crc >> 16) & 0xff] ^ table[3][crc >> 24];
}

// Fetches what the next three streams begin with: where a stream ends, the processor's own prefetching ends, too. The
// address may lie past the end; a prefetch never faults.
void prefetch(ByteSpan bytes, std::size_t ahead_bytes) {
  _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(bytes.data()) + ahead_bytes),
               _MM_HINT_T0);
}

// Takes as many times three streams as there are from the front of `bytes`.
__attribute__((target("sse4.2"))) std::uint64_t three_streams(std::uint64_t crc, ByteSpan& bytes,
                                                              std::size_t stream_bytes, const ShiftTable& table) {
  while (bytes.size() >= 3 * stream_bytes) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t at = 0; at < stream_bytes; at += 8) {
      if (at % kCacheLineBytes == 0) {
        for (std::size_t stream = 3; stream < 6; ++stream) prefetch(bytes, at + stream * stream_bytes);
      }
      crc = _mm_crc32_u64(crc, load_le<std::uint64_t>(bytes, at));
      second = _mm_crc32_u64(second, load_le<std::uint64_t>(bytes, at + stream_bytes));
      third = _mm_crc32_u64(third, load_le<std::uint64_t>(bytes, at + 2 * stream_bytes));
    }
    crc = shift(table, shift(table, crc) ^ second) ^ third;
    bytes = bytes.subspan(3 * stream_bytes);
  }
  return crc;
}

__attribute__((target("sse4.2"))) std::uint32_t hardware_register(std::uint32_t before, ByteSpan bytes) {
  std::uint64_t crc = before;
  crc = three_streams(crc, bytes, std::size_t{1} << kLog2LongStreamBytes, kLongShift);
  crc = three_streams(crc, bytes, std::size_t{1} << kLog2ShortStreamBytes, kShortShift);
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) crc = _mm_crc32_u64(crc, load_le<std::uint64_t>(bytes, 0));
  auto tail = static_cast<std::uint32_t>(crc);
  for (const std::byte byte : bytes) tail = _mm_crc32_u8(tail, std::to_integer<std::uint8_t>(byte));
  return tail;
}

bool cpu_has_instruction() {
  return __builtin_cpu_supports("sse4.2") != 0;
}

#else

std::uint32_t hardware_register(std::uint32_t crc, ByteSpan bytes) {
  return portable_register(crc, bytes);
}
bool cpu_has_instruction() {
  return false;
}

#endif

}  // namespace

std::uint32_t crc32c_portable(ByteSpan bytes, std::uint32_t before) {
  return ~portable_register(~before, bytes);
}

bool crc32c_in_hardware() {
  static const bool in_hardware = cpu_has_instruction();
  return in_hardware;
}

std::uint32_t crc32c(ByteSpan bytes, std::uint32_t before) {
  if (!crc32c_in_hardware()) return crc32c_portable(bytes, before);
  return ~hardware_register(~before, bytes);
}

}  // namespace trainwarden
