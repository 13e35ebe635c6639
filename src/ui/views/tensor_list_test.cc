#include "ui/views/tensor_list.h"

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::views {
namespace {

using namespace std::chrono_literals;

class TensorListTest : public testing::Test {
 protected:
  const ListedTensor& listed(const std::string& name) {
    if (!run_) run_ = std::make_unique<OpenRun>("r", written_.open());
    use_.reset();  // the lock, that the next one takes
    use_.emplace(*run_->use(0ms));
    list_ = *tensor_list(*use_);
    const auto found = std::find_if(list_->tensors.begin(), list_->tensors.end(),
                                    [&](const ListedTensor& tensor) { return tensor.name == name; });
    EXPECT_NE(found, list_->tensors.end()) << name;
    return *found;
  }

  TestRun written_{2};
  std::unique_ptr<OpenRun> run_;
  std::optional<OpenRun::Use> use_;
  const TensorList* list_ = nullptr;
};

TEST_F(TensorListTest, TellsWhatWasKept) {
  written_.add({.step = 0, .tensors = {shaped(kept("w", {1, 2, 3, 4}, {"weights"}), {2, 2}), scalar("loss", 1)}});
  written_.add({.step = 3, .tensors = {reduced("w", {1, 2, 3, 4}, {"weights"}), strings("tokens", {"a", "b"})}});
  const ListedTensor& w = listed("w");
  EXPECT_EQ(w.id, tensor_id_of("w"));
  EXPECT_EQ(w.values, 1U);
  EXPECT_EQ(w.statistics, 1U);
  EXPECT_EQ(w.first_step, 0);
  EXPECT_EQ(w.last_step, 3);
  EXPECT_EQ(w.shape, Shape({4}));  // of the newest
  EXPECT_EQ(list_->tensors.size(), 3U);
  EXPECT_EQ(list_->collections.at("weights"), std::vector<std::uint32_t>{2});
  const FoundTensor found = *find_listed(*use_, "w");
  EXPECT_EQ(found.tensor, &w);
  EXPECT_EQ(found.collections, std::vector<std::string>{"weights"});
  EXPECT_EQ(find_listed(*use_, "v").status().code(), Code::kNotFound);
  EXPECT_EQ(list_->tensors[0].name, "loss");
  EXPECT_EQ(list_->tensors[0].scalars, 1U);
  EXPECT_EQ(list_->tensors[1].dtype, DType::kString);
}

TEST_F(TensorListTest, TakesInWhatCameSinceAndAgreesWithTheTrial) {
  written_.add({.step = 0, .tensors = {kept("a", {1})}});
  EXPECT_EQ(listed("a").values, 1U);
  written_.add({.step = 1, .tensors = {kept("a", {1, 2}), kept("late", {1})}});
  written_.add({.step = 1, .tensors = {kept("a", {1, 2})}, .worker = 1});
  const ListedTensor& a = listed("a");
  EXPECT_EQ(a.values, 3U);
  EXPECT_EQ(a.shape, Shape({2}));
  for (const ListedTensor& tensor : list_->tensors) {
    const TensorInfo info = *use_->trial().tensor_info(tensor.name);
    EXPECT_EQ(tensor.values, info.values) << tensor.name;
    EXPECT_EQ(tensor.shape, info.shape) << tensor.name;
  }
}

TEST_F(TensorListTest, CountsAStepThatWasEndedAnewOnce) {
  written_.add({.step = 0, .tensors = {kept("a", {1})}});
  written_.add({.step = 1, .tensors = {kept("a", {1}), kept("gone", {1})}});
  EXPECT_EQ(listed("a").values, 2U);
  EXPECT_EQ(listed("gone").values, 1U);
  written_.add({.step = 1, .tensors = {kept("a", {2})}});
  EXPECT_EQ(listed("a").values, 2U);
  EXPECT_EQ(listed("gone").values, 0U);
  EXPECT_EQ(listed("gone").last_step, -1);
}

}  // namespace
}  // namespace trainwarden::views
