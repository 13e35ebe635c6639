#include "react/actions/action_kind.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace trainwarden::actions {
namespace {

using namespace std::chrono_literals;
using Values = std::map<std::string, ParameterValue>;

ParameterValue one(std::string text) {
  return std::vector<std::string>{std::move(text)};
}

bool contains(const Status& status, std::string_view part) {
  return status.message().find(part) != std::string::npos;
}

TEST(ParseDuration, AllUnits) {
  EXPECT_EQ(*parse_duration("500ms"), 500ms);
  EXPECT_EQ(*parse_duration("30s"), 30s);
  EXPECT_EQ(*parse_duration("10m"), 10min);
  EXPECT_EQ(*parse_duration("1.5h"), 90min);
  EXPECT_EQ(*parse_duration("2d"), 48h);
  EXPECT_EQ(*parse_duration("0s"), 0ms);
  EXPECT_EQ(*parse_duration(".5s"), 500ms);
}

TEST(ParseDuration, WhatIsNone) {
  for (const char* text : {"", "30", "s", "-1s", "1 s", "1S", "1e3s", "1.2.3s", "infs", "nans", "30sec", "0x10s"}) {
    const auto duration = parse_duration(text);
    EXPECT_EQ(duration.status().code(), Code::kInvalidArgument) << text;
    EXPECT_TRUE(contains(duration.status(), "30s")) << duration.status().message();
  }
  EXPECT_FALSE(parse_duration("3651d").ok());
  EXPECT_FALSE(parse_duration("99999999999999999999999999999999999h").ok());
  EXPECT_TRUE(parse_duration("3650d").ok());
}

TEST(ActionParameters, AreTakenOneByOne) {
  ActionParameters parameters(Values{{"to", std::vector<std::string>{"a", "b"}},
                                     {"url", one("http://x")},
                                     {"sync", one("yes")},
                                     {"port", one("25")},
                                     {"then", one("kill")},
                                     {"grace", one("5s")},
                                     {"token", Secret::in_environment("T")}});
  EXPECT_EQ(parameters.list("to"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(parameters.required_text("url"), "http://x");
  EXPECT_TRUE(parameters.flag("sync", false));
  EXPECT_EQ(parameters.integer("port", 1, 1, 65535), 25);
  EXPECT_EQ(parameters.choice("then", "nothing", {"nothing", "kill"}), "kill");
  EXPECT_EQ(parameters.duration("grace", 30s), 5s);
  EXPECT_EQ(parameters.secret("token")->describe(), "$T");
  EXPECT_TRUE(parameters.status().ok()) << parameters.status().message();
}

TEST(ActionParameters, Defaults) {
  ActionParameters parameters(Values{});
  EXPECT_EQ(parameters.text("a", "x"), "x");
  EXPECT_TRUE(parameters.list("b").empty());
  EXPECT_TRUE(parameters.flag("c", true));
  EXPECT_EQ(parameters.integer("d", 7, 1, 9), 7);
  EXPECT_EQ(parameters.choice("e", "y", {"x", "y"}), "y");
  EXPECT_EQ(parameters.duration("f", 3s), 3s);
  EXPECT_FALSE(parameters.secret("g"));
  EXPECT_TRUE(parameters.status().ok());
}

TEST(ActionParameters, WhatNobodyTookIsUnknown) {
  ActionParameters parameters(Values{{"grase", one("5s")}});
  parameters.duration("grace", 30s);
  parameters.text("then");
  const Status status = parameters.status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_TRUE(contains(status, "\"grase\"; did you mean \"grace\"? (there are grace, then)")) << status.message();
  EXPECT_TRUE(contains(ActionParameters(Values{{"a", one("")}}).status(), "it has none"));
}

TEST(ActionParameters, TheFirstThingWrongIsTold) {
  ActionParameters parameters(Values{{"port", one("99999")}, {"sync", one("maybe")}, {"odd", one("1")}});
  EXPECT_EQ(parameters.integer("port", 25, 1, 65535), 25);
  EXPECT_FALSE(parameters.flag("sync", false));
  EXPECT_TRUE(contains(parameters.status(), "port: expected a whole number from 1 to 65535, found \"99999\""));
}

TEST(ActionParameters, EachKindIsChecked) {
  const auto refused = [](ParameterValue value, auto take) {
    ActionParameters parameters(Values{{"p", std::move(value)}});
    take(parameters);
    return parameters.status();
  };
  const auto text = [](ActionParameters& p) { p.text("p"); };
  EXPECT_TRUE(contains(refused(std::vector<std::string>{"a", "b"}, text), "expected one text, found 2 (a, b)"));
  EXPECT_TRUE(contains(refused(Secret::in_file("/k"), text), "found the place of a secret (the file /k)"));
  EXPECT_TRUE(contains(refused(one("x"), [](ActionParameters& p) { p.flag("p", true); }), "true or false"));
  EXPECT_TRUE(contains(refused(one("1.5"), [](ActionParameters& p) { p.integer("p", 1, 0, 2); }), "whole number"));
  EXPECT_TRUE(contains(refused(one("kil"),
                               [](ActionParameters& p) {
                                 p.choice("p", "term", {"term", "kill"});
                               }),
                       "expected one of term, kill, found \"kil\"; did you mean \"kill\"?"));
  EXPECT_TRUE(contains(refused(one("5"), [](ActionParameters& p) { p.duration("p", 1s); }), "p: expected a time"));
  EXPECT_TRUE(contains(refused(one(""), [](ActionParameters& p) { p.required_text("p"); }), "p is missing"));
}

TEST(ActionParameters, ASecretWrittenOutIsRefusedAndNotShown) {
  ActionParameters parameters(Values{{"password", one("hunter2")}});
  EXPECT_FALSE(parameters.secret("password"));
  EXPECT_TRUE(contains(parameters.status(), "password=env:VARIABLE")) << parameters.status().message();
  EXPECT_FALSE(contains(parameters.status(), "hunter2"));
}

TEST(ActionParameters, TextOrSecret) {
  ::setenv("TW_URL_TEST", "http://secret", 1);
  ActionParameters parameters(Values{{"a", one("http://x")}, {"b", Secret::in_environment("TW_URL_TEST")}});
  EXPECT_EQ(*parameters.required_text_or_secret("a").read(), "http://x");
  const auto place = parameters.required_text_or_secret("b");
  EXPECT_TRUE(place.text.empty());
  EXPECT_EQ(*place.read(), "http://secret");
  EXPECT_TRUE(parameters.status().ok());
  parameters.required_text_or_secret("c");
  EXPECT_TRUE(contains(parameters.status(), "c is missing"));
}

}  // namespace
}  // namespace trainwarden::actions
