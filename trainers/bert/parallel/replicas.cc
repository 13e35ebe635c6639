// Compares ranks, and copies rank 0's tensors to all.
#include "parallel/replicas.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <cstring>
#include <sstream>

namespace bert {
namespace {

std::string described(const NamedTensors& tensors) {
  std::ostringstream text;
  for (const auto& [name, tensor] : tensors)
    text << name << ' ' << tensor.dtype().name() << ' ' << tensor.sizes() << '\n';
  return text.str();
}

at::Tensor as_bytes(const std::string& text) {
  const at::Tensor bytes = at::empty({static_cast<std::int64_t>(text.size())}, at::kByte);
  if (!text.empty()) std::memcpy(bytes.data_ptr(), text.data(), text.size());
  return bytes;
}

// One number, where the group takes it.
at::Tensor as_tensor(const Group& group, std::int64_t number) {
  return at::full({1}, number, at::TensorOptions(group.device()).dtype(at::kLong));
}

// The first line that differs, of both texts.
std::string difference(const std::string& expected, const std::string& found) {
  std::istringstream left(expected), right(found);
  std::string a, b;
  while (true) {
    const bool more_a = static_cast<bool>(std::getline(left, a));
    const bool more_b = static_cast<bool>(std::getline(right, b));
    if (!more_a && !more_b) return "nothing";
    if (more_a != more_b || a != b) {
      return "rank 0 has " + (more_a ? a : std::string("no more")) + ", this has " +
             (more_b ? b : std::string("no more"));
    }
  }
}

// FNV-1a over 64-bit words, then the bytes that are left.
std::uint64_t checksum(const NamedTensors& tensors) {
  std::uint64_t hash = 14695981039346656037u;
  const auto add = [&hash](std::uint64_t word) { hash = (hash ^ word) * 1099511628211u; };
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor values = tensor.detach().to(at::kCPU).contiguous();
    const char* bytes = static_cast<const char*>(values.data_ptr());
    const std::size_t count = values.nbytes();
    std::size_t done = 0;
    for (; done + sizeof(std::uint64_t) <= count; done += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + done, sizeof word);
      add(word);
    }
    for (; done < count; ++done) add(static_cast<unsigned char>(bytes[done]));
  }
  return hash;
}

}  // namespace

void check_same_on_all_ranks(Group& group, const NamedTensors& tensors) {
  if (group.size() == 1) return;
  const std::string mine = described(tensors);
  const at::Tensor bytes_of_first = as_tensor(group, static_cast<std::int64_t>(mine.size()));
  group.broadcast(bytes_of_first, 0).wait();
  at::Tensor text = group.rank() == 0 ? as_bytes(mine) : at::empty({bytes_of_first.item<std::int64_t>()}, at::kByte);
  text = text.to(group.device());
  group.broadcast(text, 0).wait();
  text = text.to(at::kCPU);
  const std::string first(static_cast<const char*>(text.data_ptr()), static_cast<std::size_t>(text.numel()));
  const bool same = first == mine;
  const std::vector<at::Tensor> answers = group.gather_all(as_tensor(group, same ? 1 : 0));
  std::string others;
  for (std::size_t rank = 0; rank < answers.size(); ++rank) {
    if (answers[rank].item<std::int64_t>() == 0) others += (others.empty() ? "" : ", ") + std::to_string(rank);
  }
  if (others.empty()) return;
  throw std::runtime_error("The model is not the same on all ranks: that of rank " + others + " differs from rank 0's" +
                           (same ? std::string(". Their logs say in what.") : ": " + difference(first, mine) + ".") +
                           " Start all with the same options and files.");
}

void copy_from_first_rank(Group& group, const NamedTensors& tensors) {
  check_same_on_all_ranks(group, tensors);
  const at::NoGradGuard no_grad;
  std::vector<Pending> copies;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.numel() > 0) copies.push_back(group.broadcast(tensor.detach(), 0));
  }
  for (Pending& copy : copies) copy.wait();
}

std::vector<int> ranks_that_differ(Group& group, const NamedTensors& tensors) {
  const std::uint64_t mine = checksum(tensors);
  const std::vector<at::Tensor> all = group.gather_all(as_tensor(group, static_cast<std::int64_t>(mine)));
  std::vector<int> different;
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank].item<std::int64_t>() != all[0].item<std::int64_t>()) different.push_back(static_cast<int>(rank));
  }
  return different;
}

}  // namespace bert
