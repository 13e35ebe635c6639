#include "core/exchange/address_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

namespace trainwarden::exchange {
namespace {

struct Net4 {
  std::uint32_t address;
  int bits;
};

constexpr std::uint32_t v4(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

constexpr std::array<Net4, 6> kForbidden4{{
    {v4(0, 0, 0, 0), 8},           // "this host"
    {v4(169, 254, 0, 0), 16},      // link-local; 169.254.169.254 is the metadata service of most clouds
    {v4(100, 100, 100, 200), 32},  // Alibaba's
    {v4(168, 63, 129, 16), 32},    // Azure's wire server
    {v4(192, 0, 0, 192), 32},      // Oracle's, of old
    {v4(224, 0, 0, 0), 3},         // multicast, reserved, broadcast
}};

bool within(std::uint32_t address, const Net4& net) {
  return ((address ^ net.address) >> (32 - net.bits)) == 0;
}

bool is_forbidden4(std::uint32_t address) {
  for (const Net4& net : kForbidden4) {
    if (within(address, net)) return true;
  }
  return false;
}

bool is_loopback4(std::uint32_t address) {
  return within(address, {v4(127, 0, 0, 0), 8});
}

std::uint32_t ipv4_of(const sockaddr& address) {
  sockaddr_in typed;
  std::memcpy(&typed, &address, sizeof(typed));
  return ntohl(typed.sin_addr.s_addr);
}

in6_addr ipv6_of(const sockaddr& address) {
  sockaddr_in6 typed;
  std::memcpy(&typed, &address, sizeof(typed));
  return typed.sin6_addr;
}

bool begins_with(const in6_addr& address, const char* prefix, std::size_t bytes) {
  in6_addr wanted;
  return ::inet_pton(AF_INET6, prefix, &wanted) == 1 && std::memcmp(&address, &wanted, bytes) == 0;
}

// The IPv4 address within an IPv6 address that stands for one: mapped, of NAT64, of 6to4.
std::optional<std::uint32_t> ipv4_within(const in6_addr& address) {
  const bool six_to_four = begins_with(address, "2002::", 2);
  if (!six_to_four && !begins_with(address, "::ffff:0:0", 12) && !begins_with(address, "64:ff9b::", 12)) return {};
  const std::uint8_t* bytes = address.s6_addr + (six_to_four ? 2 : 12);
  return v4(bytes[0], bytes[1], bytes[2], bytes[3]);
}

bool is_forbidden6(const in6_addr& address) {
  if (const auto inner = ipv4_within(address)) return is_forbidden4(*inner);
  const bool link_local = address.s6_addr[0] == 0xfe && (address.s6_addr[1] & 0xc0) == 0x80;
  const bool multicast = address.s6_addr[0] == 0xff;
  const bool metadata = begins_with(address, "fd00:ec2::254", 16) || begins_with(address, "fd20:ce::254", 16);
  return link_local || multicast || metadata || begins_with(address, "::", 16);
}

}  // namespace

bool is_loopback(const sockaddr& address) {
  if (address.sa_family == AF_INET) return is_loopback4(ipv4_of(address));
  if (address.sa_family != AF_INET6) return false;
  const in6_addr typed = ipv6_of(address);
  const auto inner = ipv4_within(typed);
  return inner ? is_loopback4(*inner) : begins_with(typed, "::1", 16);
}

bool is_forbidden(const sockaddr& address) {
  if (address.sa_family == AF_INET) return is_forbidden4(ipv4_of(address));
  return address.sa_family != AF_INET6 || is_forbidden6(ipv6_of(address));
}

}  // namespace trainwarden::exchange
