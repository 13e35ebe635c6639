#include "core/exchange/address_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace trainwarden::exchange {
namespace {

struct Address {
  explicit Address(const std::string& text) {
    sockaddr_in ipv4{};
    ipv4.sin_family = AF_INET;
    if (::inet_pton(AF_INET, text.c_str(), &ipv4.sin_addr) == 1) {
      std::memcpy(&room, &ipv4, sizeof(ipv4));
      return;
    }
    sockaddr_in6 ipv6{};
    ipv6.sin6_family = AF_INET6;
    EXPECT_EQ(::inet_pton(AF_INET6, text.c_str(), &ipv6.sin6_addr), 1) << text;
    std::memcpy(&room, &ipv6, sizeof(ipv6));
  }
  const sockaddr& get() const { return reinterpret_cast<const sockaddr&>(room); }
  sockaddr_storage room{};
};

TEST(AddressGuard, ForbidsWhatIsNoTarget) {
  for (const char* text : {"169.254.169.254",
                           "169.254.0.1",
                           "0.0.0.0",
                           "0.1.2.3",
                           "100.100.100.200",
                           "168.63.129.16",
                           "192.0.0.192",
                           "224.0.0.1",
                           "240.0.0.1",
                           "255.255.255.255",
                           "fe80::1",
                           "febf::1",
                           "fd00:ec2::254",
                           "fd20:ce::254",
                           "::",
                           "ff02::1",
                           "::ffff:169.254.169.254",
                           "::ffff:0.0.0.0",
                           "64:ff9b::169.254.169.254",
                           "2002:a9fe:a9fe::1"}) {
    EXPECT_TRUE(is_forbidden(Address(text).get())) << text;
  }
}

TEST(AddressGuard, AllowsOthersAndPrivateNetworks) {
  for (const char* text : {"127.0.0.1", "10.0.0.1", "172.16.3.4", "192.168.1.1", "8.8.8.8", "169.253.255.255",
                           "169.255.0.0", "100.100.100.201", "223.255.255.255", "::1", "fec0::1", "fd00::1",
                           "fd00:ec2::253", "2001:db8::1", "::ffff:10.0.0.1", "64:ff9b::8.8.8.8"}) {
    EXPECT_FALSE(is_forbidden(Address(text).get())) << text;
  }
}

TEST(AddressGuard, ForbidsFamiliesThatItDoesNotKnow) {
  sockaddr unknown{};
  unknown.sa_family = AF_UNIX;
  EXPECT_TRUE(is_forbidden(unknown));
  EXPECT_FALSE(is_loopback(unknown));
}

TEST(AddressGuard, KnowsLoopback) {
  for (const char* text : {"127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(is_loopback(Address(text).get())) << text;
  }
  for (const char* text : {"128.0.0.1", "126.255.255.255", "::2", "10.0.0.1", "0.0.0.0", "::ffff:10.0.0.1"}) {
    EXPECT_FALSE(is_loopback(Address(text).get())) << text;
  }
}

}  // namespace
}  // namespace trainwarden::exchange
