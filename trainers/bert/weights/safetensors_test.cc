// Tests of safetensors: what was written is read, and what is wrong is told.
#include "weights/safetensors.h"

#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <unistd.h>

#include "files/reading.h"

namespace bert {
namespace {

namespace fs = std::filesystem;

class SafetensorsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("safetensors_") + testing::UnitTest::GetInstance()->current_test_info()->name() + "-" +
               std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // A file with this header and so many bytes of data.
  fs::path file_with(const std::string& header, std::size_t data_bytes) {
    std::string bytes(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(header.size() >> (8 * i));
    return file_of(bytes + header + std::string(data_bytes, '\1'));
  }
  fs::path file_of(const std::string& bytes) {
    const fs::path file = folder_ / "model.safetensors";
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }
  // What read_safetensors() throws.
  static std::string error_of(const fs::path& file) {
    try {
      read_safetensors(file);
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(file.string()), std::string::npos) << "names no file: " << error.what();
      return error.what();
    }
    return "";
  }
  static void expect_error(const fs::path& file, const std::string& part) {
    const std::string error = error_of(file);
    EXPECT_NE(error.find(part), std::string::npos) << "found: " << error;
  }

  fs::path folder_;
};

TEST_F(SafetensorsTest, AllDtypesComeBack) {
  TensorsByName tensors;
  for (const auto type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kByte}) {
    tensors[c10::toString(type)] = torch::arange(15).view({3, 5}).to(type);
  }
  tensors["bool"] = torch::arange(3).gt(1);
  tensors["scalar"] = torch::scalar_tensor(2.5);
  tensors["empty"] = torch::empty({0, 4});
  tensors["transposed"] = torch::arange(6).view({2, 3}).t();
  write_safetensors(folder_ / "a", tensors);
  const TensorsByName read = read_safetensors(folder_ / "a");
  ASSERT_EQ(read.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(read.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(torch::equal(read.at(name), tensor)) << name;
  }
}

TEST_F(SafetensorsTest, WritingIntoTensorsLeavesTheFile) {
  write_safetensors(folder_ / "a", {{"x", torch::ones({4})}});
  read_safetensors(folder_ / "a").at("x").fill_(7);
  EXPECT_TRUE(torch::equal(read_safetensors(folder_ / "a").at("x"), torch::ones({4})));
}

TEST_F(SafetensorsTest, UnalignedTensorsAreCopied) {
  std::string header = R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  while (header.size() % 4 != 1) header += ' ';
  const at::Tensor x = read_safetensors(file_with(header, 4)).at("x");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data_ptr()) % 4, 0u);
  EXPECT_EQ(x.view(at::kInt).item<int>(), 0x01010101);
}

TEST_F(SafetensorsTest, TruncatedFilesAreTold) {
  write_safetensors(folder_ / "a", {{"x", torch::ones({100})}});
  const std::string whole = read_text(folder_ / "a", 1 << 20);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(error_of(file_of(whole.substr(0, size))).empty()) << size << " bytes";
  }
  expect_error(file_of(whole.substr(0, whole.size() - 1)), "Is the file complete?");
}

TEST_F(SafetensorsTest, GarbageIsTold) {
  expect_error(file_of(""), "found 0 bytes");
  expect_error(file_of(std::string(100, '\xff')), "not a safetensors file");
  expect_error(file_with("[1, 2]", 0), "JSON object");
  expect_error(file_with("{\"x\": ", 0), "JSON object");
  expect_error(file_with(R"({"x": 3})", 0), "expected dtype, shape and data_offsets");
  expect_error(folder_, "expected a file");
  expect_error(folder_ / "none", "No such file");
}

TEST_F(SafetensorsTest, HostileHeadersAreTold) {
  const auto with = [&](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return file_with(R"({"x":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}",
                     8);
  };
  EXPECT_EQ(error_of(with("F32", "[2]", "[0,8]")), "");
  expect_error(with("F32", "[3]", "[0,8]"), "as many bytes");
  expect_error(with("F32", "[2]", "[0,12]"), "within 8 bytes");
  expect_error(with("F32", "[2]", "[8,0]"), "within 8 bytes");
  expect_error(with("F32", "[4611686018427387905]", "[0,4]"), "as many bytes");  // 2^62 + 1: four bytes, by overflow
  expect_error(with("F32", "[4294967296,4294967296]", "[0,0]"), "as many bytes");
  expect_error(with("F32", "[18446744073709551615]", "[0,8]"), "below 2^63");
  expect_error(with("F32", "[-2]", "[0,8]"), "whole number");
  expect_error(with("F32", "[2.0]", "[0,8]"), "whole number");
  expect_error(with("F32", "2", "[0,8]"), "a shape of");
  expect_error(with("C64", "[1]", "[0,8]"), "expected the dtype");
  expect_error(with("F32", "[1]", "[4,8]"), "begin at 0");  // a gap
  expect_error(with("F32", "[1]", "[0,4]"), "fill 8 bytes");
}

TEST_F(SafetensorsTest, OverlapsAreTold) {
  const char* header = R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
                           "y":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})";
  expect_error(file_with(header, 12), "neither overlap");
}

TEST_F(SafetensorsTest, AFailedWriteLeavesNothing) {
  EXPECT_THROW(write_safetensors(folder_ / "none" / "a", {{"x", torch::ones({1})}}), std::runtime_error);
  EXPECT_THROW(write_safetensors(folder_ / "a", {{"x", torch::ones({1}, at::kComplexFloat)}}), std::runtime_error);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(SafetensorsTest, AWriteReplacesAsAWhole) {
  write_safetensors(folder_ / "a", {{"x", torch::zeros({1})}});
  const at::Tensor before = read_safetensors(folder_ / "a").at("x");
  write_safetensors(folder_ / "a", {{"x", torch::ones({1})}});
  EXPECT_EQ(before.item<float>(), 0);
  EXPECT_EQ(read_safetensors(folder_ / "a").at("x").item<float>(), 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(SafetensorsTest, ShardsAreOneModel) {
  write_safetensors(folder_ / "a.safetensors", {{"x", torch::zeros({1})}, {"z", torch::zeros({1})}});
  write_safetensors(folder_ / "b.safetensors", {{"y", torch::ones({1})}});
  const auto index = [&](const std::string& map) {
    std::ofstream(folder_ / "model.safetensors.index.json") << R"({"weight_map": )" << map << "}";
  };
  index(R"({"x": "a.safetensors", "y": "b.safetensors"})");
  const TensorsByName read = read_model_tensors(folder_);
  EXPECT_EQ(read.size(), 2u);
  EXPECT_EQ(read.at("y").item<float>(), 1);
  for (const char* wrong : {R"({"y": "a.safetensors"})", R"({"x": "../a.safetensors"})", R"({"x": 3})", "[]"}) {
    index(wrong);
    EXPECT_THROW(read_model_tensors(folder_), std::runtime_error) << wrong;
  }
}

TEST_F(SafetensorsTest, AFolderWithoutWeightsIsTold) {
  EXPECT_THROW(read_model_tensors(folder_), std::runtime_error);
}

}  // namespace
}  // namespace bert
