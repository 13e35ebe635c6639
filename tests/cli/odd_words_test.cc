// Words that mean something to shells and parsers reach programs and jobs as they were typed.
#include "job_harness.h"

namespace trainwarden::testing_cli {
namespace {

constexpr const char* kPrintWords = "import json, sys; print(json.dumps(sys.argv[1:]))";

const std::vector<std::string> kOddWords = {"A",    "[]", "[1, 2]", "[a,b]", "{}", "{a}",        "%%",    "'\"x\"'",
                                            "`id`", "",   "-v",     "--lr",  "--", "two\nlines", "$(id)", "[64,32]"};

class OddWords : public Jobs {
 protected:
  // What the job's program printed first, which is JSON; what Trainwarden says of it comes behind.
  nlohmann::json first_line(const std::string& job, const std::vector<std::string>& more = {}) const {
    const std::string printed = job_command("logs", job, more).out;
    return nlohmann::json::parse(printed.substr(0, printed.find('\n')));
  }
};

TEST_F(OddWords, AProgramGetsThemAll) {
  std::vector<std::string> arguments = {"run", "--name", "r", "--attach", "off", "--", "python3", "-c", kPrintWords};
  arguments.insert(arguments.end(), kOddWords.begin(), kOddWords.end());
  const Outcome outcome = cli(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.json(), nlohmann::json(kOddWords));
}

TEST_F(OddWords, AProgramWithoutDashesGetsThemToo) {
  EXPECT_EQ(cli({"run", "--name", "r", "echo", "A", "[]", "B", "[1, 2]", "[a,b]"}).out, "A [] B [1, 2] [a,b]\n");
  EXPECT_EQ(cli({"run", "--name", "q", "echo", "A", "--", "--lr", "B"}).out, "A --lr B\n");
}

TEST_F(OddWords, AJobGetsThemInItsProgramAndItsHyperparameters) {
  nlohmann::json program = {"python3", "-c", kPrintWords};
  for (const std::string& word : kOddWords) program.push_back(word);
  const nlohmann::json spec = {{"name", "odd"}, {"program", program}, {"hook", false}};
  ASSERT_EQ(submit(spec.dump(), {"--wait"}).exit_code, 0) << job_command("logs", "odd").out;
  EXPECT_EQ(first_line("odd"), nlohmann::json(kOddWords));
}

TEST_F(OddWords, AListIsAValueOfAHyperparameter) {
  std::ofstream(folder_ / "train.py") << "import json, sys\nprint(json.dumps(sys.argv[1:]))\n";
  const std::string spec = "name = 'net'\nentry_point = 'train.py'\nsource_dir = '" + folder_.string() +
                           "'\nhook = false\n[hyperparameters]\nlayers = [64, 32]\n";
  std::filesystem::create_directories(folder_ / "src");
  std::filesystem::rename(folder_ / "train.py", folder_ / "src" / "train.py");
  const std::string with_sources =
      std::string(spec).replace(spec.find(folder_.string()), folder_.string().size(), (folder_ / "src").string());
  ASSERT_EQ(submit(with_sources, {"--wait"}).exit_code, 0) << job_command("logs", "net").out;
  const nlohmann::json words = first_line("net");
  ASSERT_EQ(words.size(), 2u) << words;
  EXPECT_EQ(nlohmann::json::parse(words[1].get<std::string>()), (nlohmann::json{64, 32}));
  ASSERT_EQ(job_command("repeat", "net", {"--name", "wide", "--set", "layers=[8,8]", "--wait"}).exit_code, 0);
  EXPECT_EQ(first_line("wide")[1], "[8,8]");
  ASSERT_EQ(submit(with_sources, {"--name", "many", "--array", "layers=[1,2],[3,4]", "--wait"}).exit_code, 0);
  EXPECT_EQ(first_line("many-0")[1], "[1,2]");
  EXPECT_EQ(first_line("many-1")[1], "[3,4]");
}

TEST_F(OddWords, AParameterOfAComponentKeepsItsBrackets) {
  const std::string store = (folder_ / "experiments").string();
  const Outcome logged = cli(
      {"experiment", "log", "c", "--param", "a=[1,2]", "--param", "b={}", "--tag", "k=[x,y]", "--experiments", store});
  ASSERT_EQ(logged.exit_code, 0) << logged.err;
  const nlohmann::json shown = cli({"experiment", "show", "c", "--json", "--experiments", store}).json();
  EXPECT_EQ(shown.at("parameters").at("a"), "[1,2]");
  EXPECT_EQ(shown.at("parameters").at("b"), "{}");
  EXPECT_EQ(shown.at("tags").at("k"), "[x,y]");
}

TEST_F(OddWords, WrongArraysMakeNoJobs) {
  const std::string spec = "name = 'sweep'\nprogram = ['true']\nhook = false\n";
  const auto refused = [&](const std::string& axis, const std::string& part) {
    const Outcome outcome = submit(spec, {"--array", axis});
    EXPECT_EQ(outcome.exit_code, 2) << axis;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  };
  refused("N=9..1", "expected a range that goes up, as in 1..9");
  refused("g=1..2.5", "expected whole numbers in a range");
  refused("g=1,1", "g: has 1 twice");
  EXPECT_EQ(submit(spec + "[array]\nN = '9..1'\n").exit_code, 2);
  EXPECT_EQ(submit(spec + "[array]\ng = [1, 1]\n").exit_code, 2);
  for (const char* name : {"", "a b"}) EXPECT_EQ(submit(spec, {"--name", name}).exit_code, 2) << name;
  EXPECT_NE(submit(spec, {"--name", "a b"}).err.find("expected letters and digits"), std::string::npos);
  EXPECT_EQ(cli({"run", "--name", "", "--", "true"}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(jobs() / "sweep-0"));
}

TEST_F(OddWords, LogsThatCannotBeWrittenOrShownWholeSaySo) {
  const std::string spec = "name = 'long'\nprogram = ['python3', '-c', 'print(\"x\" * 100000); print(\"y\")']\n";
  ASSERT_EQ(submit(spec + "hook = false\n", {"--wait"}).exit_code, 0);
  const std::string at = " --jobs '" + jobs().string() + "'";
  const std::vector<std::string> all = {
      "job logs long",        "job logs -f long",
      "job logs long --json", "job queue --cpus all",
      "job ls --names",       "submit '" + (folder_ / "job.toml").string() + "' --name next --wait"};
  for (const std::string& command : all) {
    const Outcome outcome = shell("timeout 60 $TW " + command + at + " >/dev/full");
    EXPECT_EQ(outcome.exit_code, 1) << command;
    EXPECT_NE(outcome.err.find("cannot write"), std::string::npos) << command << ": " << outcome.err;
  }
  for (const char* command : {"--version", "--help", "job --help"}) {
    EXPECT_EQ(shell(std::string("$TW ") + command + " >/dev/full").exit_code, 1) << command;
  }
  EXPECT_TRUE(job_command("logs", "long").out.starts_with(std::string(100000, 'x') + "\ny\n"))
      << "bytes are as they were printed";
  const nlohmann::json first = first_line("long", {"--json"});
  EXPECT_EQ(first.at("text").get<std::string>(), std::string(65536, 'x'));
  EXPECT_EQ(first.at("cut"), true);
  EXPECT_NE(job_command("logs", "long", {"--json"}).out.find("\n{\"rank\":null,\"text\":\"y\"}\n"), std::string::npos);
}

TEST_F(OddWords, CommandsAndStatusesThatThereAreNotAreNamed) {
  const auto refused = [&](const std::vector<std::string>& words, const std::string& part) {
    const Outcome outcome = cli(words);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  };
  refused({"job", "lss"}, "trainwarden job has no command \"lss\"; did you mean \"ls\"?");
  refused({"events", "rule", "rmm"}, "trainwarden events rule has no command \"rmm\"; did you mean \"rm\"?");
  refused({"experiment"}, "trainwarden experiment needs a command; expected one of ");
  refused({"job", "ls", "--jobs", jobs().string(), "--status", "Complted"}, "did you mean \"Completed\"?");
  refused({"ls", "--status", "rnning"}, "did you mean \"running\"?");
  refused({"job", "queue", "--jobs", jobs().string(), "--cpus", "0"}, "no job could start");
}

}  // namespace
}  // namespace trainwarden::testing_cli
