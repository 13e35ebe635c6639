// CheckInputImages: images that were not normalised.
//
// Source: the documented rule of SageMaker Debugger: after threshold_samples images the mean of each colour channel is
// asked to be within threshold_mean of 0. The running mean is over all images so far.
//
// Ours: besides the documented pattern, which is MXNet's name of a model's input, the collection `image_inputs` is
// taken: what goes into the first convolution. Where only statistics were kept, the mean over all channels is judged:
// it is never further from 0 than the worst channel. State: sums and counts for each channel of each tensor and worker,
// at most kMostChannels.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/data/data_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/tensor_elements.h"

namespace trainwarden::rules {
namespace check_input_images_rule {
namespace {

constexpr std::int64_t kMostSamples = 1'000'000'000;
constexpr std::int64_t kMostChannels = 4096;
constexpr std::int64_t kImageInterval = 50;  // whole images are large; their statistics come at every step
constexpr const char* kAdvice =
    "Subtract each channel's mean over the training set and divide by its standard deviation (transforms.Normalize), "
    "the same in training and evaluation.";

struct Running {
  double sum = 0;
  double square_sum = 0;
  double count = 0;

  double mean() const { return sum / count; }
  double deviation() const { return std::sqrt(std::max(0.0, square_sum / count - mean() * mean())); }
};

struct Images {
  std::int64_t whole = 0;    // images that were seen whole
  std::int64_t reduced = 0;  // of which statistics were seen
  std::vector<Running> channels;
  Running all;
};

class CheckInputImages final : public Rule {
 public:
  CheckInputImages(TensorSelection selection, double threshold, std::int64_t samples, int channel)
      : selection_(std::move(selection)), threshold_(threshold), samples_(samples), channel_(channel) {}

  Verdict evaluate(const StepWindow& window) override {
    std::vector<Evidence> found;
    std::size_t seen = 0;
    std::size_t judged = 0;
    const JudgingGaps gaps = visit_tensors(selection_, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_RETURN_IF_ERROR(add(spot, window));
      ++seen;
      judged += judge(spot, window, found) ? 1 : 0;
      return Status();
    });
    if (seen == 0) return nothing_to_judge(gaps, "batch of images", window);
    if (judged == 0) return Verdict::insufficient_data(fmt::format("fewer than {} images were seen", samples_));
    if (found.empty()) return Verdict::ok();
    std::stable_sort(found.begin(), found.end(),
                     [](const Evidence& a, const Evidence& b) { return std::abs(a.value) > std::abs(b.value); });
    const Evidence& worst = found.front();
    std::string text =
        fmt::format("The images in \"{}\" are not normalised: by {} {} is {:.3g}, and may be at most {:g} away from 0.",
                    worst.tensor, describe_step(window), worst.quantity, worst.value, threshold_);
    return fired(std::move(text), kAdvice, std::move(found));
  }

  std::vector<Collection> needs() const override {
    std::vector<Collection> needs = needs_of(selection_, "check_input_images", KeepForm::reduced(), 1);
    const auto whole = needs_of(selection_, "check_input_images", KeepForm::whole(), kImageInterval);
    needs.insert(needs.end(), whole.begin(), whole.end());
    return needs;
  }

 private:
  using Key = std::pair<std::string, std::string>;  // tensor, worker

  Status add(const TensorSpot& spot, const StepWindow& window) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Shape shape, window.shape(spot));
    if (shape.rank() <= channel_ || shape.element_count() == 0 || shape[channel_] > kMostChannels) {
      return Status(Code::kInvalidArgument, fmt::format("\"{}\" has shape {}, which has no channels in dimension {}",
                                                        spot.tensor, shape.to_string(), channel_));
    }
    const auto value = window.value(spot);
    Images& images = images_[{spot.tensor, spot.worker}];
    if (value.ok()) {
      add_channels(value->view, images);
      images.whole += shape[0];
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* numbers, window.statistics(spot));
    if (numbers->finite_count() == 0) return Status();  // what is not finite is no image; other rules see to that
    images.all.sum += numbers->sum.to_double();
    images.all.square_sum += numbers->square_sum.to_double();
    images.all.count += static_cast<double>(numbers->finite_count());
    images.reduced += shape[0];
    return Status();
  }

  void add_channels(const TensorView& view, Images& images) const {
    const auto channels = static_cast<std::size_t>(view.shape[channel_]);
    std::size_t inner = 1;
    for (int i = channel_ + 1; i < view.shape.rank(); ++i) inner *= static_cast<std::size_t>(view.shape[i]);
    if (images.channels.size() != channels) images.channels.assign(channels, {});
    std::size_t at = 0;
    visit_components(view, 0, component_count(view), [&](double value) {
      Running& channel = images.channels[at++ / inner % channels];
      if (!std::isfinite(value)) return;
      channel.sum += value;
      channel.square_sum += value * value;
      ++channel.count;
    });
  }

  // True when there were enough images.
  bool judge(const TensorSpot& spot, const StepWindow& window, std::vector<Evidence>& found) const {
    const Images& images = images_.at({spot.tensor, spot.worker});
    const auto check = [&](const Running& running, std::string quantity) {
      if (running.count == 0 || !(std::abs(running.mean()) > threshold_)) return;
      found.push_back(
          {spot.tensor, spot.shown_worker, std::move(quantity), running.mean(), threshold_, window.global_step()});
    };
    if (images.whole >= samples_) {
      for (std::size_t i = 0; i < images.channels.size(); ++i) {
        check(images.channels[i], fmt::format("mean_of_channel_{}", i));
      }
      return true;
    }
    if (images.reduced >= samples_) check(images.all, "mean_of_all_channels");
    return images.reduced >= samples_;
  }

  const TensorSelection selection_;
  const double threshold_;
  const std::int64_t samples_;
  const int channel_;
  std::map<Key, Images> images_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection;
  selection.collections = {"image_inputs"};
  const double threshold = read.number("threshold_mean", 0);
  const std::int64_t samples = read.integer("threshold_samples", 1, kMostSamples);
  selection.patterns = read.patterns("regex");
  const std::int64_t channel = read.integer("channel", 1, Shape::kMaxRank - 1);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(
      new CheckInputImages(std::move(selection), threshold, samples, static_cast<int>(channel)));
}

constexpr const char* kDetails =
    R"(Keeps the running mean of each colour channel over all images that went into the first
convolution (collection `image_inputs`, and what `regex` matches), of each tensor and worker by itself. Once
`threshold_samples` images were seen it fires when the mean of a channel is more than `threshold_mean` away from 0.

Needs statistics of `image_inputs`, which give the mean over all channels, and whole images now and then for the single
channels; with statistics alone it may miss channels that cancel each other. What is not finite is left out.

Not among the default rules: many networks are healthy on images from 0 to 1. Evidence: `mean_of_channel_I`,
`mean_of_all_channels`.)";

}  // namespace
}  // namespace check_input_images_rule

RuleKind check_input_images() {
  RuleDescription description;
  description.name = "CheckInputImages";
  description.summary = "Fires when the images that a network gets were not normalised to a mean of 0.";
  description.parameters = {
      {"threshold_mean", "0.2", "the largest distance of a channel's mean from 0, in the images' own unit"},
      {"threshold_samples", "500", "images that are seen before they are judged"},
      {"regex", ".*hybridsequential0_input_0", "patterns of tensors with images, besides the collection image_inputs"},
      {"channel", "1", "the dimension of the colour channels, counted from 0; 1 for [N, C, H, W]"}};
  description.topic = "data";
  description.details = check_input_images_rule::kDetails;
  description.source = "SageMaker Debugger's documentation";
  return {std::move(description), check_input_images_rule::create};
}

}  // namespace trainwarden::rules
