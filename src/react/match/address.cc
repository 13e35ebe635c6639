#include "react/match/address.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "core/base/text.h"

namespace trainwarden::match {
namespace {

std::uint64_t read_big_endian(const unsigned char* bytes, int count) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

std::uint64_t low_ones(int count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// The lowest `count` bits, all of them 1.
AddressBits ones(int count) {
  if (count <= 64) return {0, low_ones(count)};
  return {low_ones(count - 64), ~std::uint64_t{0}};
}

Status expected(const char* what) {
  return Status(Code::kInvalidArgument, what);
}

}  // namespace

std::optional<IpAddress> parse_address(std::string_view text) {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.size() >= terminated.size() || text.find('\0') != std::string_view::npos) return std::nullopt;
  std::memcpy(terminated.data(), text.data(), text.size());
  std::array<unsigned char, 16> bytes{};
  if (inet_pton(AF_INET, terminated.data(), bytes.data()) == 1) {
    return IpAddress{false, {0, read_big_endian(bytes.data(), 4)}};
  }
  if (inet_pton(AF_INET6, terminated.data(), bytes.data()) == 1) {
    return IpAddress{true, {read_big_endian(bytes.data(), 8), read_big_endian(bytes.data() + 8, 8)}};
  }
  return std::nullopt;
}

Result<AddressRange> parse_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return expected("an address, \"/\" and the bits of its mask (10.0.0.0/8)");
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return expected("an address of IP version 4 or 6 before the \"/\"");
  const std::string_view mask = text.substr(slash + 1);
  const bool digits = !mask.empty() && mask.size() <= 3 && mask.find_first_not_of("0123456789") == mask.npos;
  const std::int64_t bits = digits ? parse_int(mask).value_or(-1) : -1;
  const int width = address->version6 ? 128 : 32;
  if (bits < 0 || bits > width) {
    return expected(address->version6 ? "a mask of 0 to 128 bits after the \"/\""
                                      : "a mask of 0 to 32 bits after the \"/\"");
  }
  const AddressBits behind = ones(width - static_cast<int>(bits));
  const AddressBits& given = address->bits;
  return AddressRange{address->version6,
                      {given.high & ~behind.high, given.low & ~behind.low},
                      {given.high | behind.high, given.low | behind.low}};
}

}  // namespace trainwarden::match
