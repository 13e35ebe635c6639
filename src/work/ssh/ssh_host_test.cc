#include "work/ssh/ssh_host.h"

#include <gtest/gtest.h>

#include "core/process/captured_output.h"

namespace trainwarden::ssh {
namespace {

TEST(SshHost, IsReadAsUsersWriteIt) {
  EXPECT_EQ(*parse_ssh_host("gpu1"), (SshHost{"gpu1", 0}));
  EXPECT_EQ(*parse_ssh_host("me@gpu2:2222"), (SshHost{"me@gpu2", 2222}));
  EXPECT_EQ(*parse_ssh_host("fe80::1%eth0"), (SshHost{"fe80::1%eth0", 0}));
  EXPECT_EQ(to_string(*parse_ssh_host("me@gpu2:2222")), "me@gpu2:2222");
}

TEST(SshHost, NothingIsTakenThatSshOrAShellWouldTakeOtherwise) {
  for (const char* text : {"", "-oProxyCommand=x", "a b", "gpu1;ls", "gpu1:0", "gpu1:99999", "gpu1:x", "gpu1:", "@gpu1",
                           "me@", "$(ls)", "gpu1\n", ":22"}) {
    EXPECT_EQ(parse_ssh_host(text).status().code(), Code::kInvalidArgument) << text;
  }
}

TEST(SshHost, AWordOfAShellStaysOne) {
  for (const std::string& word : {std::string("it's \"$HOME\" `ls` \\ \n !"), std::string(""), std::string("-n")}) {
    process::Program program;
    program.command = {"sh", "-c", "printf '%s' " + shell_word(word)};
    const auto printed = process::capture_output(program, 1000, std::chrono::seconds(60));
    ASSERT_TRUE(printed.ok());
    EXPECT_EQ(printed->text, word);
  }
}

TEST(SshHost, AsksNothingAndForwardsNothing) {
  const std::vector<std::string> words = ssh_command({"me@gpu1", 2222}, "echo 'a'");
  for (const char* wanted : {"BatchMode=yes", "PasswordAuthentication=no", "ClearAllForwardings=yes", "-a", "-x"}) {
    EXPECT_NE(std::find(words.begin(), words.end(), wanted), words.end()) << wanted;
  }
  const auto end = std::find(words.begin(), words.end(), "--");
  ASSERT_EQ(words.end() - end, 3);
  EXPECT_EQ(end[1], "me@gpu1");
}

}  // namespace
}  // namespace trainwarden::ssh
