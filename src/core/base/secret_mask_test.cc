// Planted keys are masked, what a training calls a token or a key is not. The keys are made up in pieces, so that no
// scanner of sources takes them for real ones.
#include "core/base/secret_mask.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden {
namespace {

std::string letters(std::size_t count) {
  constexpr std::string_view kLetters = "aB3dE6gH1jK4mN7pQ2sT5vW8yZ0";
  std::string text;
  while (text.size() < count) text += kLetters;
  return text.substr(0, count);
}

SecretMask known() {
  auto mask = SecretMask::create();
  EXPECT_TRUE(mask.ok()) << mask.status().to_string();
  return *std::move(mask);
}

TEST(SecretMaskTest, KnownShapesAreMaskedWhereverTheyStand) {
  const SecretMask mask = known();
  const std::vector<std::string> secrets = {
      "AKIA" + std::string("ABCDEFGHIJ234567"),
      "ghp_" + letters(36),
      "github_pat_" + letters(40),
      "glpat-" + letters(20),
      std::string("xoxb-") + "1234567890-" + letters(20),
      std::string("sk_live_") + letters(24),
      "sk-proj-" + letters(40),
      "sk-" + letters(48),
      "hf_" + letters(34),
      "AIza" + letters(35),
      "npm_" + letters(36),
      "eyJ" + letters(20) + ".eyJ" + letters(30) + "." + letters(40),
  };
  for (const std::string& secret : secrets) {
    EXPECT_EQ(mask.text("cannot log in with " + secret + ", giving up"), "cannot log in with ****, giving up");
    EXPECT_EQ(mask.text(secret), "****");
  }
  const std::string key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow" + letters(60) + "\n-----END RSA PRIVATE KEY-----";
  EXPECT_EQ(mask.text("key " + key + " end"), "key **** end");
  EXPECT_EQ(mask.text("cut -----BEGIN PRIVATE KEY-----\n" + letters(40)), "cut ****");
}

TEST(SecretMaskTest, PasswordsInAddressesAndHeadersAreMasked) {
  const SecretMask mask = known();
  EXPECT_EQ(mask.text("postgres://ada:hunter2@db.example.com:5432/runs"),
            "postgres://ada:****@db.example.com:5432/runs");
  EXPECT_EQ(mask.text("https://" + letters(24) + "@git.example.com/x"), "https://****@git.example.com/x");
  EXPECT_EQ(mask.text("https://hooks.slack.com/services/T0/B0/" + letters(24)),
            "https://hooks.slack.com/services/****");
  EXPECT_EQ(mask.text("Authorization: Bearer abc.def"), "Authorization: Bearer ****");
  EXPECT_EQ(mask.text("{\"Authorization\": \"Basic YWRhOng=\"}"), "{\"Authorization\": \"Basic ****\"}");
  EXPECT_EQ(mask.text("s3://b/k?X-Amz-Signature=0a1b2c&X=1"), "s3://b/k?X-Amz-Signature=****&X=1");
}

TEST(SecretMaskTest, ValuesOfSecretNamesAreMaskedAndTheNamesStay) {
  const SecretMask mask = known();
  EXPECT_EQ(mask.text("--api-key=abc"), "--api-key=****");
  EXPECT_EQ(mask.text("WANDB_API_KEY=0123456789abcdef python t.py"), "WANDB_API_KEY=**** python t.py");
  EXPECT_EQ(mask.text("login --password hunter2 --verbose"), "login --password **** --verbose");
  EXPECT_EQ(mask.text("{\"password\": \"two words\", \"lr\": 0.1}"), "{\"password\": \"****\", \"lr\": 0.1}");
  EXPECT_EQ(mask.text("HF_TOKEN=whatever"), "HF_TOKEN=****");
  EXPECT_EQ(mask.text("MY_TOKEN=a1b2c3d4e5"), "MY_TOKEN=****");
  EXPECT_EQ(mask.text("aws_secret_access_key = wJalr/XUtn+FEMI"), "aws_secret_access_key = ****");
  EXPECT_EQ(mask.text("accessToken: abc123"), "accessToken: ****");
  EXPECT_EQ(mask.value("db-password", "two words"), "****");
  EXPECT_EQ(mask.value("--token", "a1b2c3d4e5"), "****");
  EXPECT_EQ(mask.text(mask.text("--api-key=abc --password x")), mask.text("--api-key=abc --password x"));
}

TEST(SecretMaskTest, AnOptionMasksTheArgumentBehindIt) {
  const SecretMask mask = known();
  const std::vector<std::string> arguments = {"python", "t.py",      "--password", "two words",    "--lr",
                                              "0.1",    "--api-key", "-x",         "--max-tokens", "512"};
  const std::vector<std::string> masked = {"python", "t.py",      "--password", "****",         "--lr",
                                           "0.1",    "--api-key", "-x",         "--max-tokens", "512"};
  EXPECT_EQ(mask.arguments(arguments), masked);
}

TEST(SecretMaskTest, WordsOfATrainingStay) {
  const SecretMask mask = known();
  for (const char* text : {"--max-tokens 512",
                           "--token-dim 64",
                           "--num_tokens=1000000",
                           "max_new_tokens: 128",
                           "--pad-token <pad>",
                           "--eos_token=</s>",
                           "--token 17",
                           "--pad_token [PAD1]",
                           "tokens_per_second=1234.5",
                           "--tokenizer bert-base-uncased",
                           "9fceb02d0ae598e95dc970b74767f19372d61af8",
                           "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                           "model.layers.11.self_attn.k_proj.weight",
                           "key_projection=0.02",
                           "--key-dim 64",
                           "--secret-sharer-size 5",
                           "/home/ada/sk-learn/models/resnet50.pt",
                           "hf_model.encoder.layer.0",
                           "--use-api-key true",
                           "password: none",
                           "PWD=/home/ada",
                           "OLDPWD=/tmp",
                           "https://example.com:8080/a@b",
                           "git@github.com:ada/net.git",
                           "loss=0.25 token=the lr=1e-3",
                           "task-5f2c9a sk-short",
                           "forward_pass=1.25",
                           "bearer of news",
                           "step 12: embedding_token.weight is 0.125",
                           "key: value",
                           "s3://bucket/run-2024-01-02T03:04:05Z/step=5"}) {
    EXPECT_EQ(mask.text(text), text);
  }
  EXPECT_EQ(mask.value("max_tokens", "512"), "512");
  EXPECT_EQ(mask.value("lr", "0.1"), "0.1");
  EXPECT_EQ(mask.value("api_key", ""), "");
}

TEST(SecretMaskTest, UsersAddPatternsOfTheirOwn) {
  const auto mask = SecretMask::create({"ACME-[0-9]{6}", "badge (\\w+)", "x*"});
  ASSERT_TRUE(mask.ok());
  EXPECT_EQ(mask->text("ACME-123456 and ACME-654321, badge blue"), "**** and ****, badge ****");
  const auto broken = SecretMask::create({"a("});
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.status().message().find("a("), std::string::npos);
}

TEST(SecretMaskTest, PatternsAreReadFromAFile) {
  const TestFolder folder;
  const auto file = folder.path() / "secret_patterns";
  std::ofstream(file) << "# ours\n\n  ACME-[0-9]+  \nbadge (.*)\n";
  const auto patterns = read_secret_patterns(file);
  ASSERT_TRUE(patterns.ok());
  EXPECT_EQ(*patterns, (std::vector<std::string>{"ACME-[0-9]+", "badge (.*)"}));
  EXPECT_FALSE(read_secret_patterns(file.string() + ".missing").ok());
}

TEST(SecretMaskTest, ALongTextIsLookedThroughInLittleTime) {
  const SecretMask mask = known();
  const std::string word(100'000, 'a');
  EXPECT_EQ(mask.text(word + " --password x"), word + " --password ****");
  EXPECT_EQ(mask.text(std::string(100'000, '-')), std::string(100'000, '-'));
}

}  // namespace
}  // namespace trainwarden
