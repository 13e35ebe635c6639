// Reads images and labels in the IDX format of MNIST and FashionMNIST, packed with gzip or not.
#pragma once

#include <torch/types.h>

#include <filesystem>
#include <string>

namespace fashion_mnist {

struct LabelledImages {
  torch::Tensor images;  // uint8, [count, 1, rows, columns]
  torch::Tensor labels;  // int64, [count]
};

// From `<folder>/<part>-images-idx3-ubyte.gz` and `<folder>/<part>-labels-idx1-ubyte.gz`; `part` is "train" or "t10k".
// Throws std::runtime_error that says what is missing or wrong.
LabelledImages read_labelled_images(const std::filesystem::path& folder, const std::string& part);

}  // namespace fashion_mnist
