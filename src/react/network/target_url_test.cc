#include "react/network/target_url.h"

#include <string>

#include <gtest/gtest.h>

namespace trainwarden::network {
namespace {

TEST(TargetUrl, ShowsNeitherPathNorQuery) {
  const auto target = parse_target_url("https://Hooks.Example.com:8443/T0/hidden?key=hidden#hidden", false);
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->place, "https://Hooks.Example.com:8443");
  EXPECT_TRUE(target->encrypted);
  EXPECT_FALSE(target->loopback);
  EXPECT_EQ(target->url, "https://Hooks.Example.com:8443/T0/hidden?key=hidden#hidden");
}

TEST(TargetUrl, RefusesWhatItWouldNotSendTo) {
  for (const char* text :
       {"", "hidden", "hidden.example/x", "ftp://hidden/x", "file:///etc/hidden", "gopher://hidden", "//hidden/x",
        "https://", "https:///hidden", "https://user@hidden/", "https://user:hidden@host/", "https://:hidden@host/",
        "https://host/hid den", "https://host/hidden\r\nX: y", "https://host/hidden\n", "https://host:port/hidden",
        "https://host:99999/hidden", " https://host/hidden", "javascript:hidden"}) {
    const auto target = parse_target_url(text, true);
    ASSERT_FALSE(target.ok()) << text;
    EXPECT_EQ(target.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(target.status().message().find("hidden"), std::string::npos) << target.status().message();
    EXPECT_NE(target.status().message().find("expected"), std::string::npos);
  }
}

TEST(TargetUrl, WantsEncryptionBeyondThisMachine) {
  EXPECT_FALSE(parse_target_url("http://handler.example/hidden", false).ok());
  EXPECT_FALSE(parse_target_url("http://10.0.0.1/", false).ok());
  EXPECT_FALSE(parse_target_url("http://localhost.example/", false).ok());
  EXPECT_FALSE(parse_target_url("http://127.0.0.1.example/", false).ok());
  EXPECT_TRUE(parse_target_url("http://handler.example/", true).ok());
  const auto refused = parse_target_url("http://handler.example/hidden", false);
  EXPECT_NE(refused.status().message().find("allow_http=true"), std::string::npos);
  EXPECT_EQ(refused.status().message().find("hidden"), std::string::npos);
  for (const char* text :
       {"http://localhost/", "http://LOCALHOST:80/", "http://127.0.0.1:8080/x", "http://[::1]:80/"}) {
    const auto target = parse_target_url(text, false);
    ASSERT_TRUE(target.ok()) << text << target.status().to_string();
    EXPECT_TRUE(target->loopback) << text;
    EXPECT_FALSE(target->encrypted);
  }
}

}  // namespace
}  // namespace trainwarden::network
