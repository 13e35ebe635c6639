#include "work/manifest/kubernetes_manifest.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "work/workspace/layout.h"
#include "work/workspace/toolkit_variables.h"

namespace trainwarden::manifest {
namespace {

namespace fs = std::filesystem;
using format::OrderedJson;

constexpr const char* kRoot = "/opt/ml";
constexpr const char* kContainer = "train";
constexpr const char* kJobLabel = "trainwarden-job";
constexpr const char* kIndexField = "metadata.annotations['batch.kubernetes.io/job-completion-index']";
constexpr const char* kMasterPort = "29500";  // torchrun's default
constexpr int kGraceSeconds = 120;
constexpr std::size_t kMaxNodeNameBytes = 63;  // of a label of DNS, which "NAME-INDEX" is

workspace::JobLayout layout_in_container() {
  workspace::JobLayout layout;
  layout.root = kRoot;
  layout.code = layout.root / "code";
  layout.input = layout.root / "input";
  layout.input_config = layout.input / "config";
  layout.input_data = layout.input / "data";
  layout.model = layout.root / "model";
  layout.output = layout.root / "output";
  layout.output_data = layout.output / "data";
  layout.intermediate = layout.output / "intermediate";
  layout.checkpoints = layout.kept_checkpoints = layout.root / "checkpoints";
  layout.results = layout.output;
  return layout;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

OrderedJson variable(const std::string& name, const std::string& value) {
  return {{"name", name}, {"value", value}};
}

OrderedJson field_variable(const std::string& name, const std::string& field) {
  return {{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", field}}}}}};
}

class Writer {
 public:
  Writer(const jobs::JobSpec& spec, const ManifestChoice& choice, document::Mistakes& mistakes,
         std::vector<jobs::Warning>& warnings)
      : spec_(spec), choice_(choice), mistakes_(mistakes), warnings_(warnings) {
    name_ = choice.name;
    if (name_.empty()) name_ = spec.name;
    if (name_.empty()) name_ = spec.base_name;
    if (name_.empty()) name_ = "job";
    name_ = lower(name_);
  }

  OrderedJson write() {
    check();
    add_warnings();
    OrderedJson items = OrderedJson::array();
    if (has_nodes()) items.push_back(service());
    items.push_back(job());
    return {{"apiVersion", "v1"}, {"kind", "List"}, {"items", items}};
  }

 private:
  bool has_nodes() const { return spec_.resources.nodes > 1; }
  std::string host(std::int64_t node) const { return fmt::format("{0}-{1}.{0}", name_, node); }
  void not_said(std::string_view what) { warnings_.push_back({"MANIFEST", spec_.place, std::string(what)}); }

  void check() {
    if (spec_.image.empty()) {
      mistakes_.add(spec_.place, "image: Kubernetes runs programs in images: expected one, found none");
    } else if (spec_.image.ends_with(".sif")) {
      mistakes_.add(spec_.place, "image: Kubernetes takes no .sif files: expected an image of a registry");
    }
    const std::string longest = fmt::format("{}-{}", name_, spec_.resources.nodes - 1);
    if (has_nodes() && longest.size() > kMaxNodeNameBytes) {
      mistakes_.add(spec_.place, fmt::format("name: a node would be called {}: expected {} bytes at most, found {}",
                                             longest, kMaxNodeNameBytes, longest.size()));
    }
  }

  void add_warnings() {
    const auto warn_when = [this](bool is_there, std::string_view what) {
      if (is_there) not_said(what);
    };
    warn_when(!spec_.source_dir.empty(), fmt::format("source_dir: the sources are expected in {}/code, in the image{}",
                                                     kRoot, choice_.claim.empty() ? "" : " or in code on the claim"));
    warn_when(!spec_.rules.empty() || !spec_.actions.empty() || !spec_.hook_config.empty(),
              "rules, actions, hook: nobody judges; start the program with `trainwarden run` in the image");
    warn_when(spec_.metrics.definitions.size() > 0,
              "metric: nobody reads the output; `trainwarden run --log` in the image does");
    warn_when(!spec_.experiment.experiment.empty(), "experiment: the job is in none");
    warn_when(spec_.limits.max_wait_seconds.has_value(),
              "max_wait: Kubernetes has no limit of waiting and running together");
    warn_when(spec_.limits.max_pending_seconds.has_value(), "max_pending: Kubernetes has no limit of waiting");
    warn_when(spec_.priority != 0, "priority: Kubernetes has classes of priority, made by an administrator");
    warn_when(spec_.resources.binding != jobs::Binding::kNone,
              "bind: that is up to the kubelet's policy of processors");
    warn_when(spec_.isolated_network, "isolated_network: write a NetworkPolicy");
    warn_when(spec_.resources.tasks_per_node > 1,
              "tasks_per_node: one program a node is started; let it be torchrun, or start its ranks itself");
    warn_when(choice_.claim.empty(), "--claim: model, output and checkpoints are gone with the pod");
  }

  OrderedJson service() const {
    return {{"apiVersion", "v1"},
            {"kind", "Service"},
            {"metadata", {{"name", name_}, {"labels", labels()}}},
            {"spec", {{"clusterIP", "None"}, {"selector", {{kJobLabel, name_}}}, {"publishNotReadyAddresses", true}}}};
  }

  OrderedJson labels() const { return {{"app.kubernetes.io/managed-by", "trainwarden"}, {kJobLabel, name_}}; }

  OrderedJson annotations() const {
    OrderedJson annotations = OrderedJson::object();
    for (const auto& [key, value] : spec_.tags)
      annotations["trainwarden-tag-" + std::to_string(annotations.size())] = key + "=" + value;
    std::vector<std::string> texts;
    for (const jobs::Warning& warning : warnings_) texts.push_back(warning.what);
    if (!texts.empty()) annotations["trainwarden-not-said"] = fmt::format("{}", fmt::join(texts, "\n"));
    return annotations;
  }

  OrderedJson job() {
    OrderedJson pod = pod_spec();  // it may have more to warn of
    OrderedJson spec = {{"backoffLimit", spec_.limits.retries},
                        {"activeDeadlineSeconds", static_cast<std::int64_t>(std::ceil(spec_.limits.max_run_seconds))}};
    if (has_nodes()) {
      spec["completionMode"] = "Indexed";
      spec["completions"] = spec_.resources.nodes;
      spec["parallelism"] = spec_.resources.nodes;
    }
    spec["podFailurePolicy"] = failure_policy();
    spec["template"] = {{"metadata", {{"labels", labels()}}}, {"spec", std::move(pod)}};
    return {{"apiVersion", "batch/v1"},
            {"kind", "Job"},
            {"metadata", {{"name", name_}, {"labels", labels()}, {"annotations", annotations()}}},
            {"spec", std::move(spec)}};
  }

  // As here: what the program itself has done is not tried again, and to make room costs a preemptible job no try.
  OrderedJson failure_policy() const {
    OrderedJson rules = OrderedJson::array();
    if (spec_.resources.preemptible) {
      rules.push_back({{"action", "Ignore"},
                       {"onPodConditions", OrderedJson::array({{{"type", "DisruptionTarget"}, {"status", "True"}}})}});
    } else {
      rules.push_back({{"action", "Count"},
                       {"onPodConditions", OrderedJson::array({{{"type", "DisruptionTarget"}, {"status", "True"}}})}});
    }
    rules.push_back({{"action", "FailJob"},
                     {"onExitCodes", {{"containerName", kContainer}, {"operator", "NotIn"}, {"values", {0}}}}});
    return {{"rules", rules}};
  }

  OrderedJson pod_spec() {
    OrderedJson container = {{"name", kContainer}, {"image", spec_.image}, {"command", choice_.program}};
    container["workingDir"] = layout_.code.string();
    container["env"] = environment();
    if (OrderedJson resources = limits(); !resources.empty()) {
      container["resources"] = {{"requests", resources}, {"limits", resources}};
    }
    add_volumes();
    container["volumeMounts"] = mounts_;
    OrderedJson pod = {{"restartPolicy", "Never"}, {"terminationGracePeriodSeconds", kGraceSeconds}};
    if (has_nodes()) pod["subdomain"] = name_;
    pod["containers"] = OrderedJson::array({std::move(container)});
    pod["volumes"] = volumes_;
    return pod;
  }

  OrderedJson environment() const {
    workspace::NodeSurroundings node;
    node.cpus = spec_.resources.cpus.value_or(1) * spec_.resources.tasks_per_node;
    node.gpus = spec_.resources.gpus.value_or(0);
    node.arguments = choice_.program;
    if (has_nodes()) {
      node.hosts.clear();
      for (std::int64_t i = 0; i < spec_.resources.nodes; ++i) node.hosts.push_back(host(i));
      node.host = "$(POD_NAME)";  // Kubernetes puts a variable in that stands before
    }
    std::map<std::string, std::string> values = workspace::toolkit_variables(spec_, layout_, node);
    for (const auto& [name, value] : spec_.environment) values[name] = value;
    OrderedJson all = OrderedJson::array();
    if (has_nodes()) add_rank_variables(all);
    for (const auto& [name, value] : values) all.push_back(trainwarden::manifest::variable(name, value));
    return all;
  }

  void add_rank_variables(OrderedJson& all) const {
    all.push_back(field_variable("POD_NAME", "metadata.name"));
    all.push_back(field_variable("NODE_RANK", kIndexField));
    if (spec_.resources.tasks_per_node == 1) all.push_back(field_variable("RANK", kIndexField));
    const std::int64_t tasks = spec_.resources.nodes * spec_.resources.tasks_per_node;
    all.push_back(trainwarden::manifest::variable("WORLD_SIZE", std::to_string(tasks)));
    all.push_back(trainwarden::manifest::variable("MASTER_ADDR", host(0)));
    all.push_back(trainwarden::manifest::variable("MASTER_PORT", kMasterPort));
  }

  // Of one node. Kubernetes wants GPUs to be the same in both, and takes numbers as texts.
  OrderedJson limits() const {
    const jobs::Resources& wanted = spec_.resources;
    OrderedJson limits = OrderedJson::object();
    if (wanted.cpus) limits["cpu"] = std::to_string(*wanted.cpus * wanted.tasks_per_node);
    if (wanted.memory_bytes) limits["memory"] = std::to_string(*wanted.memory_bytes);
    if (wanted.volume_bytes) limits["ephemeral-storage"] = std::to_string(*wanted.volume_bytes);
    if (wanted.gpus && *wanted.gpus > 0) limits["nvidia.com/gpu"] = std::to_string(*wanted.gpus);
    return limits;
  }

  void mount(const std::string& volume, const fs::path& place, const std::string& in_volume, bool writable = true) {
    OrderedJson mount = {{"name", volume}, {"mountPath", place.string()}};
    if (!in_volume.empty()) mount["subPath"] = in_volume;
    if (!writable) mount["readOnly"] = true;
    mounts_.push_back(std::move(mount));
  }

  void add_volumes() {
    volumes_.push_back({{"name", "shm"}, {"emptyDir", {{"medium", "Memory"}}}});  // data loaders need more than 64 MB
    mount("shm", "/dev/shm", "");
    const bool kept = !choice_.claim.empty();
    const std::string kind = kept ? "claim" : "scratch";
    volumes_.push_back(kept ? OrderedJson{{"name", kind}, {"persistentVolumeClaim", {{"claimName", choice_.claim}}}}
                            : OrderedJson{{"name", kind}, {"emptyDir", OrderedJson::object()}});
    for (const char* folder : {"model", "output", "checkpoints"}) {
      mount(kind, layout_.root / folder, name_ + "/" + folder);
    }
    for (const jobs::Channel& channel : spec_.inputs) add_channel(channel);
  }

  void add_channel(const jobs::Channel& channel) {
    const fs::path place = layout_.input_data / channel.name;
    const fs::path source(channel.source);
    if (channel.source.find("://") != std::string::npos) {
      not_said(fmt::format("inputs.{}: {}: the program has to fetch it", channel.name, channel.source));
    } else if (source.is_relative() && !choice_.claim.empty() && *source.begin() != "..") {
      mount("claim", place, source.lexically_normal().string(), false);
    } else {
      const std::string volume = fmt::format("input-{}", volumes_.size());
      const fs::path path = (fs::path(choice_.folder) / source).lexically_normal();
      not_said(fmt::format("inputs.{}: {} is expected on every machine", channel.name, path.string()));
      volumes_.push_back({{"name", volume}, {"hostPath", {{"path", path.string()}}}});
      mount(volume, place, "", false);
    }
  }

  const jobs::JobSpec& spec_;
  const ManifestChoice& choice_;
  document::Mistakes& mistakes_;
  std::vector<jobs::Warning>& warnings_;
  const workspace::JobLayout layout_ = layout_in_container();
  std::string name_;
  OrderedJson mounts_ = OrderedJson::array();
  OrderedJson volumes_ = OrderedJson::array();
};

}  // namespace

OrderedJson kubernetes_manifest(const jobs::JobSpec& spec, const ManifestChoice& choice, document::Mistakes& mistakes,
                                std::vector<jobs::Warning>& warnings) {
  return Writer(spec, choice, mistakes, warnings).write();
}

}  // namespace trainwarden::manifest
