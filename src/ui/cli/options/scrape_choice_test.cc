#include "ui/cli/options/scrape_choice.h"

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

TEST(ScrapeChoice, TakesAPortOrAnAddressWithOne) {
  const auto none = ScrapeChoice{}.parse();
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
  const auto port = ScrapeChoice{.place = "9464"}.parse();
  ASSERT_TRUE(port.ok()) << port.status().to_string();
  EXPECT_EQ((*port)->address, "127.0.0.1");
  EXPECT_EQ((*port)->port, 9464);
  const auto six = ScrapeChoice{.place = "[::1]:0"}.parse();
  ASSERT_TRUE(six.ok()) << six.status().to_string();
  EXPECT_EQ((*six)->address, "::1");
  EXPECT_TRUE((*six)->loopback);
  for (const char* bad : {"x", "-1", "65536", ":9464", "127.0.0.1:", "127.0.0.1:x", " "}) {
    EXPECT_EQ(ScrapeChoice{.place = bad}.parse().status().code(), Code::kInvalidArgument) << bad;
  }
}

TEST(ScrapeChoice, OtherMachinesNeedPermission) {
  const auto refused = ScrapeChoice{.place = "0.0.0.0:9464"}.parse();
  EXPECT_EQ(refused.status().code(), Code::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("--allow-remote"), std::string::npos);
  const auto allowed = ScrapeChoice{.place = "0.0.0.0:9464", .allow_remote = true}.parse();
  ASSERT_TRUE(allowed.ok());
  EXPECT_FALSE((*allowed)->loopback);
}

}  // namespace
}  // namespace trainwarden::cli
