#include "read/trial/smdebug/manifests.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "data/foreign/smdebug_layout.h"
#include "data/foreign/smdebug_manifest.h"
#include "read/trial/run_source.h"

namespace trainwarden::trial {
namespace {

Status check_worker_count(int count) {
  if (count >= 1 && count <= kMaxWorldSize) return {};
  return Status(Code::kDataLoss, fmt::format("num_workers: expected 1 to {}, found {}", kMaxWorldSize, count));
}

}  // namespace

Status Manifests::refresh() {
  const std::string folder(foreign::kSmdebugManifestFolder);
  const auto names = storage_.list(folder);
  if (!names.ok()) return names.status().code() == Code::kNotFound ? Status() : names.status();
  for (const std::string& name : *names) {
    const auto worker = foreign::worker_of_manifest(name);
    if (!worker) continue;
    Manifest& manifest = by_worker_[*worker];
    manifest.path = fmt::format("{}/{}", folder, name);
    read(manifest);
  }
  return {};
}

void Manifests::read(Manifest& manifest) {
  const auto content = storage_.read(manifest.path);
  if (!content.ok()) {
    manifest.status = content.status();
    return;
  }
  const std::size_t hash = std::hash<std::string>()(*content);
  if (std::exchange(manifest.content_hash, hash) == hash) return;
  auto decoded = foreign::decode_smdebug_manifest(*content);
  manifest.status = decoded.ok() ? check_worker_count(decoded->num_workers) : decoded.status();
  if (!manifest.status.ok()) return;
  manifest.announced_workers = decoded->num_workers;
  for (foreign::SmdebugCollection& entry : decoded->collections) collections_.push_back(std::move(entry.collection));
}

std::vector<std::string> Manifests::workers() const {
  std::vector<std::string> workers;
  for (const auto& [worker, manifest] : by_worker_) workers.push_back(worker);
  return workers;
}

int Manifests::announced_workers() const {
  int announced = 0;
  for (const auto& [worker, manifest] : by_worker_) announced = std::max(announced, manifest.announced_workers);
  return announced;
}

std::vector<RunLoss> Manifests::losses() const {
  std::vector<RunLoss> losses;
  for (const auto& [worker, manifest] : by_worker_) {
    if (manifest.status.ok()) continue;
    losses.push_back({manifest.path, fmt::format("unusable manifest: {}", manifest.status.message()), 1, 0, false});
  }
  return losses;
}

}  // namespace trainwarden::trial
