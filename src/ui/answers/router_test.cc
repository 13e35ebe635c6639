#include "ui/answers/router.h"

#include <gtest/gtest.h>

namespace trainwarden::answers {
namespace {

Result<Reply> nothing(const Request&, const Services&) {
  return Reply{};
}

Router small_router() {
  return Router({{.path = "/runs/{run}/tensors/{tensor}", .handler = nothing},
                 {.path = "/runs/{run}/tensors/all", .handler = nothing},
                 {.method = Method::kPost, .path = "/runs/{run}/stop", .handler = nothing, .acts = true}});
}

TEST(ParseQuery, TakesEachParameterOnce) {
  const auto query = parse_query("of=mean&step=3&flag&&name=a%26b");
  ASSERT_TRUE(query.ok()) << query.status().to_string();
  EXPECT_EQ(query->text("of"), "mean");
  EXPECT_EQ(query->text("name"), "a&b");
  EXPECT_TRUE(query->has("flag"));
  EXPECT_EQ(parse_query("a=1&a=2").status().code(), Code::kInvalidArgument);
}

TEST(Router, FindsTheRouteAndWhatItsNamesStandFor) {
  const Router router = small_router();
  const auto match = router.match(Method::kGet, "/runs/1f/tensors/a%2Fb", "step=3");
  ASSERT_TRUE(match.ok()) << match.status().to_string();
  EXPECT_EQ(match->route->path, "/runs/{run}/tensors/{tensor}");
  EXPECT_EQ(match->request.in_path("run"), "1f");
  EXPECT_EQ(match->request.in_path("tensor"), "a/b");
  EXPECT_EQ(match->request.query.text("step"), "3");
}

TEST(Router, PrefersWordsToNames) {
  const Router router = small_router();
  EXPECT_EQ(router.match(Method::kGet, "/runs/1f/tensors/all", "")->route->path, "/runs/{run}/tensors/all");
}

TEST(Router, TellsAnUnknownAddressFromAWrongMethod) {
  const Router router = small_router();
  EXPECT_EQ(router.match(Method::kGet, "/runs/1f/nothing", "").status().code(), Code::kNotFound);
  EXPECT_EQ(router.match(Method::kGet, "/runs//tensors/x", "").status().code(), Code::kNotFound);
  EXPECT_EQ(router.match(Method::kGet, "/runs/1f/tensors/x/", "").status().code(), Code::kNotFound);
  EXPECT_EQ(router.match(Method::kGet, "/runs/1f/stop", "").status().code(), Code::kUnimplemented);
}

TEST(AllRoutes, HaveHandlersAndOneMeaningEach) {
  std::vector<std::string> seen;
  for (const Route& route : all_routes()) {
    const std::string key = std::to_string(static_cast<int>(route.method)) + route.path;
    EXPECT_NE(route.handler, nullptr) << route.path;
    EXPECT_TRUE(route.path.starts_with("/")) << route.path;
    EXPECT_TRUE(!route.acts || route.method == Method::kPost) << route.path << " changes something on a GET";
    EXPECT_EQ(std::find(seen.begin(), seen.end(), key), seen.end()) << route.path << " is there twice";
    seen.push_back(key);
  }
}

}  // namespace
}  // namespace trainwarden::answers
