#include "work/manifest/kubernetes_manifest.h"

#include <gtest/gtest.h>

#include "work/document/document.h"

namespace trainwarden::manifest {
namespace {

using format::OrderedJson;

struct Written {
  OrderedJson document;
  document::Mistakes mistakes;
  std::vector<jobs::Warning> warnings;

  const OrderedJson& job() const { return document.at("items").back(); }
  const OrderedJson& pod() const { return job().at("spec").at("template").at("spec"); }
  const OrderedJson& container() const { return pod().at("containers").at(0); }
  std::string environment(const std::string& name) const {
    for (const OrderedJson& one : container().at("env")) {
      if (one.at("name") == name && one.contains("value")) return one.at("value");
    }
    return "(nothing)";
  }
  const OrderedJson* mount_at(const std::string& place) const {
    for (const OrderedJson& one : container().at("volumeMounts")) {
      if (one.at("mountPath") == place) return &one;
    }
    return nullptr;
  }
  bool warns_of(const std::string& start) const {
    for (const jobs::Warning& warning : warnings) {
      if (warning.what.starts_with(start)) return true;
    }
    return false;
  }
};

Written write(const std::string& spec, const std::string& claim = "") {
  Written written;
  const auto top = document::parse(spec, "job.toml");
  EXPECT_TRUE(top.ok()) << top.status().to_string();
  const jobs::JobSpec job = jobs::read_job_spec(*top, written.mistakes);
  written.document =
      kubernetes_manifest(job, {"", claim, {"python3", "train.py"}, "/home/anna"}, written.mistakes, written.warnings);
  return written;
}

TEST(KubernetesManifest, AJobOfOneNodeIsAJob) {
  const Written written = write(R"(
name = "Bert-7"
entry_point = "train.py"
image = "registry/train:1"
max_run = "2 h"
retries = 2
[environment]
MINE = "yes"
[resources]
cpus = 4
gpus = 2
memory = "8 GiB"
)",
                                "trainings");
  EXPECT_FALSE(written.mistakes.any());
  EXPECT_EQ(written.document.at("kind"), "List");
  ASSERT_EQ(written.document.at("items").size(), 1U);
  EXPECT_EQ(written.job().at("apiVersion"), "batch/v1");
  EXPECT_EQ(written.job().at("metadata").at("name"), "bert-7") << "Kubernetes takes no capitals";
  const OrderedJson& spec = written.job().at("spec");
  EXPECT_EQ(spec.at("backoffLimit"), 2);
  EXPECT_EQ(spec.at("activeDeadlineSeconds"), 7200);
  EXPECT_FALSE(spec.contains("completions"));
  EXPECT_EQ(written.pod().at("restartPolicy"), "Never");
  EXPECT_EQ(written.pod().at("terminationGracePeriodSeconds"), 120);
  EXPECT_EQ(written.container().at("command"), OrderedJson({"python3", "train.py"}));
  EXPECT_EQ(written.container().at("resources").at("limits"),
            OrderedJson({{"cpu", "4"}, {"memory", "8589934592"}, {"nvidia.com/gpu", "2"}}));
  EXPECT_EQ(written.environment("MINE"), "yes");
  EXPECT_EQ(written.environment("SM_MODEL_DIR"), "/opt/ml/model");
  EXPECT_EQ(written.mount_at("/opt/ml/checkpoints")->at("subPath"), "bert-7/checkpoints");
  EXPECT_TRUE(written.warnings.empty());
}

// A program that fails by itself is not tried again, as here.
TEST(KubernetesManifest, OnlyWhatIsNotTheProgramsFaultIsTriedAgain) {
  const auto rules_of = [](const Written& written) {
    return written.job().at("spec").at("podFailurePolicy").at("rules");
  };
  const OrderedJson rules = rules_of(write("image = \"a\"\nentry_point = \"t.py\"\n"));
  EXPECT_EQ(rules.at(0).at("action"), "Count");
  EXPECT_EQ(rules.at(1).at("action"), "FailJob");
  EXPECT_EQ(rules.at(1).at("onExitCodes").at("containerName"), "train");
  const OrderedJson preemptible =
      rules_of(write("image = \"a\"\nentry_point = \"t.py\"\n[resources]\npreemptible = true\n"));
  EXPECT_EQ(preemptible.at(0).at("action"), "Ignore") << "to make room costs no try";
}

TEST(KubernetesManifest, SeveralNodesFindEachOther) {
  const Written written = write("name = \"wide\"\nimage = \"a\"\nentry_point = \"t.py\"\n[resources]\nnodes = 3\n");
  ASSERT_EQ(written.document.at("items").size(), 2U);
  const OrderedJson& service = written.document.at("items").at(0);
  EXPECT_EQ(service.at("spec").at("clusterIP"), "None");
  EXPECT_EQ(service.at("metadata").at("name"), "wide");
  const OrderedJson& selector = service.at("spec").at("selector");
  EXPECT_EQ(selector, OrderedJson({{"trainwarden-job", "wide"}}));
  EXPECT_EQ(written.job().at("spec").at("template").at("metadata").at("labels").at("trainwarden-job"), "wide");
  const OrderedJson& spec = written.job().at("spec");
  EXPECT_EQ(spec.at("completionMode"), "Indexed");
  EXPECT_EQ(spec.at("completions"), 3);
  EXPECT_EQ(spec.at("parallelism"), 3);
  EXPECT_EQ(written.pod().at("subdomain"), "wide");
  EXPECT_EQ(written.environment("MASTER_ADDR"), "wide-0.wide");
  EXPECT_EQ(written.environment("WORLD_SIZE"), "3");
  EXPECT_EQ(written.environment("SM_HOSTS"), R"(["wide-0.wide","wide-1.wide","wide-2.wide"])");
}

TEST(KubernetesManifest, ChannelsAreOnTheClaimOrOnEachMachine) {
  const char* const spec = "image = \"a\"\nentry_point = \"t.py\"\n[inputs]\nnear = \"data/x\"\nfar = \"/mnt/y\"\n";
  const Written with = write(spec, "trainings");
  EXPECT_EQ(with.mount_at("/opt/ml/input/data/near")->at("subPath"), "data/x");
  EXPECT_EQ(with.mount_at("/opt/ml/input/data/near")->at("readOnly"), true);
  EXPECT_FALSE(with.warns_of("inputs.near"));
  EXPECT_TRUE(with.warns_of("inputs.far: /mnt/y is expected on every machine"));
  const Written without = write(spec);
  EXPECT_TRUE(without.warns_of("inputs.near: /home/anna/data/x is expected on every machine"));
  EXPECT_TRUE(without.warns_of("--claim"));
}

TEST(KubernetesManifest, WhatItCannotSayItSays) {
  const Written written = write(R"(
name = "much"
entry_point = "train.py"
image = "a"
priority = 3
rules = ["default"]
max_pending = "1 h"
isolated_network = true
[resources]
tasks_per_node = 2
)");
  for (const char* start : {"priority", "rules", "max_pending", "isolated_network", "tasks_per_node", "--claim"}) {
    EXPECT_TRUE(written.warns_of(start)) << start;
  }
  const std::string told = written.job().at("metadata").at("annotations").at("trainwarden-not-said");
  EXPECT_NE(told.find("priority"), std::string::npos);
}

TEST(KubernetesManifest, WhatItCannotDoWithoutIsAMistake) {
  EXPECT_EQ(write("entry_point = \"t.py\"\n").mistakes.count(), 1U);
  EXPECT_EQ(write("entry_point = \"t.py\"\nimage = \"a.sif\"\n").mistakes.count(), 1U);
  const std::string name(62, 'n');
  EXPECT_EQ(write("name = \"" + name + "\"\nentry_point = \"t.py\"\nimage = \"a\"\n[resources]\nnodes = 2\n")
                .mistakes.count(),
            1U);
}

}  // namespace
}  // namespace trainwarden::manifest
