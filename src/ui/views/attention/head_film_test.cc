#include "ui/views/attention/head_film.h"

#include <gtest/gtest.h>

#include "ui/views/attention/attention_testing.h"

namespace trainwarden::views::attention {
namespace {

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// One item, one head, two tokens: the first looks at itself with this weight, the second at the first.
void add_step(TestRun& run, std::int64_t step, float weight, const std::vector<std::string>& texts = {"a", "b"},
              const char* layer = "layer.0.attn") {
  TestStep saved{.step = step, .mode = Mode::kEval, .mode_step = step / 10};
  saved.tensors.push_back(shaped(kept(layer, std::vector<float>{weight, 1 - weight, 1, 0}), {1, 1, 2, 2}));
  saved.tensors.push_back(shaped(strings("tokens", std::vector<std::string>(texts)), {1, 2}));
  run.add(saved);
}

HeadFilm film_of(const TestRun& run, const FilmQuestion& question = {}) {
  auto film = film_of_head(look_into(run), question);
  EXPECT_TRUE(film.ok()) << film.status().to_string();
  return film.ok() ? *std::move(film) : HeadFilm{};
}

TEST(HeadFilm, HasAFrameForEachStepWithItsWeights) {
  TestRun run;
  add_step(run, 0, 0.5F);
  add_step(run, 10, 0.25F);
  add_step(run, 20, 1);
  const HeadFilm film = film_of(run);
  EXPECT_EQ(film.steps, (std::vector<std::int64_t>{0, 10, 20}));
  EXPECT_EQ(count_of(film.svg, "<g class=\"f\""), 3U);
  EXPECT_EQ(count_of(film.svg, ">step 10 (eval 1)</text>"), 1U);
  // Of step 10: 0.25 from the first to the first, 0.75 to the second, 1 from the second to the first.
  const std::string frame =
      film.svg.substr(film.svg.find(">step 10"), film.svg.find(">step 20") - film.svg.find(">step 10"));
  EXPECT_NE(frame.find(R"(<path d="M150 50L570 50" stroke-width="1" stroke-opacity="0.5"/>)"), std::string::npos)
      << frame;
  EXPECT_NE(frame.find(R"(<path d="M150 50L570 70" stroke-width="3" stroke-opacity="0.87"/>)"), std::string::npos)
      << frame;
  EXPECT_NE(frame.find(R"(<path d="M150 70L570 50" stroke-width="4" stroke-opacity="1"/>)"), std::string::npos)
      << frame;
  EXPECT_EQ(count_of(frame, "<path"), 3U) << "a weight of 0 is no line";
}

TEST(HeadFilm, FramesFollowOneAnotherAndEachIsSeenAsLong) {
  TestRun run;
  for (const std::int64_t step : {0, 10, 20, 30}) add_step(run, step, 0.5F);
  const std::string svg = film_of(run).svg;
  EXPECT_NE(svg.find("animation:film 2.4s step-end infinite"), std::string::npos) << svg;
  EXPECT_NE(svg.find("25%{visibility:hidden}"), std::string::npos) << svg;
  std::size_t at = 0;
  for (const char* delay : {"-2.4s", "-1.8s", "-1.2s", "-0.6s"}) {
    at = svg.find(std::string("animation-delay:") + delay, at);
    EXPECT_NE(at, std::string::npos) << delay;
  }
}

TEST(HeadFilm, TokensStandOnceWhereTheyStayTheSame) {
  TestRun same;
  add_step(same, 0, 0.5F);
  add_step(same, 10, 0.5F);
  EXPECT_EQ(count_of(film_of(same).svg, ">b</text>"), 2U) << "as query and as key";
  TestRun other;
  add_step(other, 0, 0.5F);
  add_step(other, 10, 0.5F, {"a", "c"});
  EXPECT_EQ(count_of(film_of(other).svg, ">b</text>"), 2U);
  EXPECT_EQ(count_of(film_of(other).svg, ">c</text>"), 2U);
  EXPECT_EQ(count_of(film_of(other).svg, ">a</text>"), 4U) << "in each frame";
}

TEST(HeadFilm, TextsOfARunAreNoMarkup) {
  TestRun run;
  add_step(run, 0, 0.5F, {"<script>", "a&b\x1b\xff"});
  const std::string svg = film_of(run).svg;
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_NE(svg.find(">&lt;script&gt;</text>"), std::string::npos) << svg;
  EXPECT_NE(svg.find(R"(>a&amp;b\x1B\xFF</text>)"), std::string::npos) << svg;
}

TEST(HeadFilm, StepsWithoutTheLayerAreLeftOut) {
  TestRun run;
  add_step(run, 0, 0.5F);
  add_step(run, 10, 0.5F, {"a", "b"}, "layer.1.attn");
  add_step(run, 20, 0.5F);
  EXPECT_EQ(film_of(run).steps, (std::vector<std::int64_t>{0, 20}));
  EXPECT_EQ(film_of(run, {.layer = 1}).steps, (std::vector<std::int64_t>{10}));
}

TEST(HeadFilm, OfManyStepsSomeAreShown) {
  TestRun run;
  for (std::int64_t step = 0; step < 300; ++step) add_step(run, step, 0.5F);
  const HeadFilm film = film_of(run);
  EXPECT_LE(film.steps.size(), kMostFilmSteps);
  EXPECT_GT(film.steps.size(), kMostFilmSteps / 2);
  EXPECT_EQ(film.steps.front(), 0);
  EXPECT_EQ(film.steps.back(), 299);
  EXPECT_NE(film.svg.find("animation-delay:-0.1"), std::string::npos) << "the last frame";
}

TEST(HeadFilm, SaysWhatIsNotThere) {
  TestRun run;
  add_step(run, 0, 0.5F);
  EXPECT_EQ(film_of_head(look_into(run), {.head = 3}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(film_of_head(look_into(run), {.layer = 3}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(film_of_head(look_into(run), {.mode = Mode::kTrain}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(film_of_head(look_into(run), {.first = 65}).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::views::attention
