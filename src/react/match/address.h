// Addresses of IP version 4 and 6, and the ranges that CIDR notation writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::match {

// The bits of an address, the most significant first; of version 4 the low 32.
struct AddressBits {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const AddressBits&, const AddressBits&) = default;
};

struct IpAddress {
  bool version6 = false;
  AddressBits bits;
};

// Both ends belong to it.
struct AddressRange {
  bool version6 = false;
  AddressBits first;
  AddressBits last;
};

// "10.0.0.33", "2001:db8::1"; nothing when it is no address.
std::optional<IpAddress> parse_address(std::string_view text);

// "10.0.0.0/8", "2001:db8::/32". The bits behind the mask do not count. kInvalidArgument: the message has what was
// expected, and no more.
Result<AddressRange> parse_cidr(std::string_view text);

}  // namespace trainwarden::match
