// Figures of compression: what zstd makes of the frames of a run, and how fast. The tensors are those of a small
// network that is trained here, on pictures that are drawn here; words and statistics are what a run says of them.
#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench.h"
#include "data/format/records.h"
#include "trainwarden/statistics.h"

namespace trainwarden::bench {
namespace {

constexpr std::size_t kSide = 28;
constexpr std::size_t kPixels = kSide * kSide;
constexpr std::size_t kHidden = 256;
constexpr std::size_t kClasses = 10;
constexpr std::size_t kBatch = 64;
constexpr int kTrainSteps = 60;
constexpr int kRounds = 9;

using Floats = std::vector<float>;

// Lines at an angle that is the picture's class, with noise.
void draw(std::mt19937& random, std::size_t label, float* pixels) {
  std::normal_distribution<float> noise(0.0f, 0.05f);
  std::uniform_real_distribution<float> phase(0.0f, 6.28f);
  const float shift = phase(random);
  const float angle = 3.14159f * static_cast<float>(label) / static_cast<float>(kClasses);
  for (std::size_t y = 0; y < kSide; ++y) {
    for (std::size_t x = 0; x < kSide; ++x) {
      const float along = std::cos(angle) * static_cast<float>(x) + std::sin(angle) * static_cast<float>(y);
      const float value = std::sin(0.6f * along + shift);
      pixels[y * kSide + x] = std::max(0.0f, value) + (value > 0 ? noise(random) : 0.0f);
    }
  }
}

// out[m][n] = sum over k of a[m][k] * b[k][n]
void multiply(const Floats& a, const Floats& b, Floats& out, std::size_t m, std::size_t k, std::size_t n) {
  std::fill(out.begin(), out.end(), 0.0f);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < k; ++j) {
      const float factor = a[i * k + j];
      if (factor == 0) continue;
      for (std::size_t l = 0; l < n; ++l) out[i * n + l] += factor * b[j * n + l];
    }
  }
}

Floats transposed(const Floats& a, std::size_t rows, std::size_t columns) {
  Floats out(a.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) out[j * rows + i] = a[i * columns + j];
  }
  return out;
}

// One hidden layer with ReLU, softmax and cross entropy, stochastic gradient descent.
class Network {
 public:
  Network() : random_(1), first_(kPixels * kHidden), second_(kHidden * kClasses) {
    std::normal_distribution<float> normal(0.0f, 1.0f);
    for (float& weight : first_) weight = normal(random_) * std::sqrt(2.0f / kPixels);
    for (float& weight : second_) weight = normal(random_) * std::sqrt(2.0f / kHidden);
  }

  float step() {
    Floats input(kBatch * kPixels);
    std::vector<std::size_t> labels(kBatch);
    for (std::size_t i = 0; i < kBatch; ++i) draw(random_, labels[i] = random_() % kClasses, &input[i * kPixels]);
    activation = Floats(kBatch * kHidden);
    multiply(input, first_, activation, kBatch, kPixels, kHidden);
    for (float& value : activation) value = std::max(value, 0.0f);
    Floats output(kBatch * kClasses);
    multiply(activation, second_, output, kBatch, kHidden, kClasses);
    const float loss = softmax(output, labels);
    second_gradient = Floats(second_.size());
    multiply(transposed(activation, kBatch, kHidden), output, second_gradient, kHidden, kBatch, kClasses);
    Floats back(kBatch * kHidden);
    multiply(output, transposed(second_, kHidden, kClasses), back, kBatch, kClasses, kHidden);
    for (std::size_t i = 0; i < back.size(); ++i) back[i] = activation[i] > 0 ? back[i] : 0.0f;
    gradient = Floats(first_.size());
    multiply(transposed(input, kBatch, kPixels), back, gradient, kPixels, kBatch, kHidden);
    for (std::size_t i = 0; i < first_.size(); ++i) first_[i] -= 0.1f * gradient[i];
    for (std::size_t i = 0; i < second_.size(); ++i) second_[i] -= 0.1f * second_gradient[i];
    return loss;
  }
  const Floats& weights() const { return first_; }

  Floats activation;
  Floats gradient;
  Floats second_gradient;

 private:
  // Turns outputs into their gradients.
  static float softmax(Floats& output, const std::vector<std::size_t>& labels) {
    float loss = 0;
    for (std::size_t i = 0; i < kBatch; ++i) {
      float* const row = &output[i * kClasses];
      const float largest = *std::max_element(row, row + kClasses);
      float sum = 0;
      for (std::size_t j = 0; j < kClasses; ++j) sum += row[j] = std::exp(row[j] - largest);
      for (std::size_t j = 0; j < kClasses; ++j) row[j] /= sum;
      loss -= std::log(std::max(row[labels[i]], 1e-9f)) / kBatch;
      row[labels[i]] -= 1.0f;
      for (std::size_t j = 0; j < kClasses; ++j) row[j] /= kBatch;
    }
    return loss;
  }

  std::mt19937 random_;
  Floats first_;
  Floats second_;
};

std::string bytes_of(const Floats& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

// The upper halves, as a training in bfloat16 has them.
std::string halves_of(const Floats& values) {
  std::string bytes;
  for (const float& value : values) bytes.append(reinterpret_cast<const char*>(&value) + 2, 2);
  return bytes;
}

// The first bytes of all elements, then the second, ...
std::string shuffled(const std::string& bytes, std::size_t item_bytes) {
  std::string out(bytes.size(), '\0');
  const std::size_t count = bytes.size() / item_bytes;
  for (std::size_t byte = 0; byte < item_bytes; ++byte) {
    for (std::size_t i = 0; i < count; ++i) out[byte * count + i] = bytes[i * item_bytes + byte];
  }
  return out;
}

struct Sample {
  std::string bytes;
  std::size_t item_bytes = 0;  // of tensors
};

// 300 tensors, as of a network with 60 layers, whose statistics are those of slices of ours.
std::string statistics_frame(const Network& network) {
  std::vector<format::StatisticsRow> rows;
  constexpr std::size_t kSlice = 512;
  for (std::uint32_t id = 0; id < 300; ++id) {
    const Floats& values = id % 3 == 0 ? network.weights() : id % 3 == 1 ? network.gradient : network.activation;
    const float* const slice = values.data() + (id * kSlice) % (values.size() - kSlice);
    format::StatisticsRow row;
    row.id = id;
    row.shape = {16, 32};
    row.statistics = *compute_statistics(TensorView::of(slice, DType::kFloat32, row.shape));
    rows.push_back(std::move(row));
  }
  return format::encode_statistics(rows);
}

std::string names_frame() {
  std::vector<format::NameEntry> names;
  for (std::uint32_t id = 0; id < 300; ++id) {
    const char* const parts[] = {"weight", "bias", "output"};
    names.push_back({id,
                     fmt::format("encoder.layer.{}.attention.self.{}", id / 3, parts[id % 3]),
                     {id % 3 == 2 ? "outputs" : "weights"}});
  }
  return format::encode_names(names);
}

std::string scalars_frame() {
  std::vector<format::ScalarRow> rows;
  for (std::uint32_t id = 0; id < 20; ++id) rows.push_back({id, 1.0 / (1.0 + id)});
  return format::encode_scalars(rows);
}

const std::map<std::string, Sample>& samples() {
  static const std::map<std::string, Sample> all = [] {
    Network network;
    float loss = 0;
    for (int step = 0; step < kTrainSteps; ++step) loss = network.step();
    if (!(loss < 1.5f)) throw std::runtime_error(fmt::format("the network did not learn: its loss is {}", loss));
    std::map<std::string, Sample> made;
    made["statistics"] = {statistics_frame(network)};
    made["names"] = {names_frame()};
    made["scalars"] = {scalars_frame()};
    made["step_end"] = {format::encode_step_end({Mode::kTrain, 123, {}})};
    made["weights"] = {bytes_of(network.weights()), 4};
    made["gradients"] = {bytes_of(network.gradient), 4};
    made["relu"] = {bytes_of(network.activation), 4};
    made["weights_bf16"] = {halves_of(network.weights()), 2};
    made["gradients_bf16"] = {halves_of(network.gradient), 2};
    return made;
  }();
  return all;
}

// Ratio, and GB/s of the uncompressed bytes in each direction.
std::vector<Figure> measure(const std::string& name, const std::string& bytes, int level) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  std::string unpacked(bytes.size(), '\0');
  std::size_t packed_bytes = 0;
  std::vector<double> in;
  std::vector<double> out;
  const std::size_t times = std::max<std::size_t>(1, (1 << 20) / bytes.size());
  const auto gigabytes = static_cast<double>(bytes.size() * times);
  for (int round = 0; round < kRounds; ++round) {
    in.push_back(gigabytes / elapsed_ns([&] {
                   for (std::size_t i = 0; i < times; ++i) {
                     packed_bytes = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), level);
                   }
                 }));
    out.push_back(gigabytes / elapsed_ns([&] {
                    for (std::size_t i = 0; i < times; ++i) {
                      keep(ZSTD_decompress(unpacked.data(), unpacked.size(), packed.data(), packed_bytes));
                    }
                  }));
  }
  if (unpacked != bytes) throw std::runtime_error("zstd gave other bytes back");
  const double ratio = static_cast<double>(bytes.size()) / static_cast<double>(packed_bytes);
  const std::string limit = "a processor";
  return {{name + ".ratio", {ratio, ratio, ratio}, "ratio", {}, fmt::format("{} bytes", bytes.size())},
          {name + ".in", spread_of(in), "GB/s", {}, limit},
          {name + ".out", spread_of(out), "GB/s", {}, limit}};
}

Result<std::vector<Figure>> measure_sample(const std::string& name, const Sample& sample) {
  std::vector<Figure> figures;
  const auto add = [&](const std::string& how, const std::string& bytes, int level) {
    for (Figure& figure : measure(fmt::format("compression.{}.{}{}", name, how, level), bytes, level)) {
      figures.push_back(std::move(figure));
    }
  };
  for (const int level : {1, 3, 9}) add("zstd", sample.bytes, level);
  if (sample.item_bytes == 0) return figures;
  for (const int level : {1, 3}) add("shuffled_zstd", shuffled(sample.bytes, sample.item_bytes), level);
  return figures;
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  std::vector<Benchmark> all;
  for (const char* name : {"names", "statistics", "scalars", "step_end", "weights", "gradients", "relu", "weights_bf16",
                           "gradients_bf16"}) {
    all.push_back({fmt::format("compression.{}", name), [name = std::string(name)]() -> Result<std::vector<Figure>> {
                     return measure_sample(name, samples().at(name));
                   }});
  }
  return all;
}

}  // namespace trainwarden::bench
