// untouched_training: LibTorch programs that know nothing of Trainwarden, one a scenario. Each writes what it did
// itself,
//
//   truth train 2 conv.weight 8c736521...
//
// the mode, the step in that mode, the name, and a hash of the bytes: what a capture must say, too. The last line is a
// hash of all parameters.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace nn = torch::nn;
namespace optim = torch::optim;
using torch::Tensor;

// FNV-1a
std::uint64_t hash_bytes(const void* data, std::size_t count, std::uint64_t hash = 0xcbf29ce484222325) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash;
}

std::uint64_t hash_of(const Tensor& tensor) {
  const Tensor whole = tensor.detach().contiguous();
  return hash_bytes(whole.data_ptr(), whole.nbytes());
}

void print_tensor(const std::string& mode, int step, const std::string& name, const Tensor& tensor) {
  std::printf("truth %s %d %s %016lx\n", mode.c_str(), step, name.c_str(), hash_of(tensor));
}

void print_gradients(int step, const nn::Module& model, const std::string& prefix = "") {
  for (const auto& item : model.named_parameters()) {
    if (item->grad().defined()) print_tensor("train", step, "gradient/" + prefix + item.key(), item->grad());
  }
}

void print_parameters(int step, const nn::Module& model, const std::string& prefix = "") {
  for (const auto& item : model.named_parameters()) print_tensor("train", step, prefix + item.key(), *item);
  for (const auto& item : model.named_buffers()) print_tensor("train", step, prefix + item.key(), *item);
}

void print_digest(const nn::Module& model) {
  std::uint64_t hash = 0;
  for (const Tensor& parameter : model.parameters()) hash = hash * 31 + hash_of(parameter);
  std::printf("digest %016lx\n", hash);
}

// On the stack, as in LibTorch's own examples.
struct ConvNet : nn::Module {
  ConvNet() {
    register_module("conv", conv);
    register_module("norm", norm);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor& images, const std::string& mode = "", int step = 0, int call = 0) {
    const Tensor filtered = conv(images);
    const Tensor normed = norm(filtered);
    const Tensor scores = fc(torch::relu(normed).flatten(1));
    if (!mode.empty()) {
      const std::string suffix = "_" + std::to_string(call);
      print_tensor(mode, step, "conv_output" + suffix, filtered);
      print_tensor(mode, step, "norm_output" + suffix, normed);
      print_tensor(mode, step, "fc_output" + suffix, scores);
    }
    return scores;
  }

  nn::Conv2d conv{nn::Conv2dOptions(1, 3, 3)};
  nn::BatchNorm2d norm{3};
  nn::Linear fc{3 * 6 * 6, 4};
};

Tensor some_images() {
  return torch::rand({5, 1, 8, 8});
}
Tensor some_labels(std::int64_t count = 5) {
  return torch::randint(0, 4, {count}, torch::kLong);
}

void train_step(ConvNet& net, optim::Optimizer& optimizer, int step) {
  optimizer.zero_grad();
  const Tensor loss = nn::functional::cross_entropy(net.forward(some_images(), "train", step), some_labels());
  loss.backward();
  print_tensor("train", step, "cross_entropy_loss_output_0", loss);
  print_gradients(step, net);
  optimizer.step();
  print_parameters(step, net);
}

void eval_step(ConvNet& net, int step) {
  const torch::NoGradGuard no_grad;
  const Tensor loss = torch::nll_loss(torch::log_softmax(net.forward(some_images(), "eval", step), 1), some_labels());
  print_tensor("eval", step, "nll_loss_output_0", loss);
}

// Training, a look at the model by hand, evaluation, and more training.
int conv() {
  ConvNet net;
  optim::SGD optimizer(net.parameters(), optim::SGDOptions(0.1).momentum(0.9));
  net.train();
  for (int step = 0; step < 3; ++step) train_step(net, optimizer, step);
  {
    const torch::NoGradGuard no_grad;
    std::printf("a look at %g\n", net.forward(some_images()).sum().item<double>());
  }
  net.eval();
  for (int step = 0; step < 2; ++step) eval_step(net, step);
  net.train();
  train_step(net, optimizer, 3);
  print_digest(net);
  return 0;
}

// Adam, whose third batch has a NaN.
int poisoned() {
  nn::Linear net(3, 2);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.1).weight_decay(0.01));
  for (int step = 0; step < 5; ++step) {
    optimizer.zero_grad();
    Tensor inputs = torch::ones({4, 3});
    if (step == 2) inputs[0][0] = std::nan("");
    nn::functional::mse_loss(net->forward(inputs), torch::zeros({4, 2})).backward();
    optimizer.step();
    print_parameters(step, *net);
  }
  print_digest(*net);
  return 0;
}

struct TransformerImpl : nn::Module {
  TransformerImpl() {
    register_module("embed", embed);
    register_module("attention", attention);
    register_module("norm", norm);
    register_module("head", head);
  }
  Tensor forward(const Tensor& tokens, int step) {
    const Tensor embedded = embed(tokens);
    const Tensor attended = std::get<0>(attention(embedded, embedded, embedded));
    const Tensor normed = norm(attended + embedded);
    const Tensor scores = head(normed);
    print_tensor("train", step, "embed_output_0", embedded);
    print_tensor("train", step, "norm_output_0", normed);
    print_tensor("train", step, "head_output_0", scores);
    return scores;
  }

  nn::Embedding embed{11, 8};
  nn::MultiheadAttention attention{nn::MultiheadAttentionOptions(8, 2)};
  nn::LayerNorm norm{nn::LayerNormOptions({8})};
  nn::Linear head{nn::LinearOptions(8, 11).bias(false)};
};
TORCH_MODULE(Transformer);

// A model that a shared_ptr owns, gradients of two passes, and another kind of optimizer.
int transformer() {
  Transformer net;
  optim::AdamW optimizer(net->parameters(), 0.01);
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    const Tensor tokens = torch::randint(0, 11, {6, 3}, torch::kLong);
    const Tensor scores = torch::log_softmax(net->forward(tokens, step), 2);
    const Tensor loss = torch::nll_loss(scores.flatten(0, 1), tokens.flatten());
    loss.backward();
    print_tensor("train", step, "nll_loss_output_0", loss);
    print_gradients(step, *net);
    optimizer.step();
    print_parameters(step, *net);
    const auto& state = static_cast<const optim::AdamWParamState&>(*optimizer.state().begin()->second);
    std::printf("steps of the optimizer: %ld\n", static_cast<long>(state.step()));
  }
  print_digest(*net);
  return 0;
}

struct GeneratorImpl : nn::Module {
  GeneratorImpl() { register_module("fc", fc); }
  Tensor forward(const Tensor& noise) { return torch::tanh(fc(noise)); }
  nn::Linear fc{2, 3};
};
TORCH_MODULE(Generator);

struct DiscriminatorImpl : nn::Module {
  DiscriminatorImpl() { register_module("fc", fc); }
  Tensor forward(const Tensor& data) { return fc(data); }
  nn::Linear fc{3, 1};
};
TORCH_MODULE(Discriminator);

// Two models, two optimizers, two losses in a step.
int gan() {
  Generator generator;
  Discriminator discriminator;
  optim::Adam of_generator(generator->parameters(), 0.01);
  optim::Adam of_discriminator(discriminator->parameters(), 0.01);
  const auto loss_of = [&](const Tensor& data, double label) {
    const Tensor scores = discriminator->forward(data);
    return nn::functional::binary_cross_entropy_with_logits(scores, torch::full_like(scores, label));
  };
  for (int step = 0; step < 3; ++step) {
    discriminator->zero_grad();
    const Tensor real = loss_of(torch::randn({4, 3}), 1);
    const Tensor fake = generator->forward(torch::randn({4, 2}));
    const Tensor unreal = loss_of(fake.detach(), 0);
    (real + unreal).backward();
    print_gradients(step, *discriminator, "Discriminator.");
    of_discriminator.step();

    of_generator.zero_grad();
    const Tensor fooled = loss_of(fake, 1);
    fooled.backward();
    print_gradients(step, *generator, "Generator.");
    of_generator.step();

    print_tensor("train", step, "binary_cross_entropy_with_logits_output_0", real);
    print_tensor("train", step, "binary_cross_entropy_with_logits_output_1", unreal);
    print_tensor("train", step, "binary_cross_entropy_with_logits_output_2", fooled);
    print_parameters(step, *generator, "Generator.");
    print_parameters(step, *discriminator, "Discriminator.");
  }
  print_digest(*generator);
  print_digest(*discriminator);
  return 0;
}

// A perceptron, a loss by hand.
nn::Sequential perceptron() {
  return nn::Sequential(nn::Linear(3, 8), nn::Tanh(), nn::Linear(8, 1));
}

void perceptron_step(nn::Sequential& net, optim::Optimizer& optimizer, int step, bool prints = true) {
  optimizer.zero_grad();
  const Tensor input = torch::randn({4, 3});
  const Tensor loss = (net->forward(input) - input.sum(1, true)).square().mean();
  loss.backward();
  if (prints) print_tensor("train", step, "loss_output_0", loss);
  if (prints) print_gradients(step, *net);
  optimizer.step();
  if (prints) print_parameters(step, *net);
}

void train_perceptron(int steps) {
  nn::Sequential net = perceptron();
  optim::RMSprop optimizer(net->parameters(), 0.01);
  for (int step = 0; step < steps; ++step) perceptron_step(net, optimizer, step);
  print_digest(*net);
}

int exits() {
  train_perceptron(2);
  std::exit(5);
}

int ends_at_once() {
  train_perceptron(2);
  std::fflush(stdout);
  _exit(6);
}

int throws() {
  train_perceptron(2);
  std::fflush(stdout);
  throw std::runtime_error("the training failed");
}

// A closure that fails within step(), and a step after that.
int recovers() {
  nn::Sequential net = perceptron();
  optim::Adagrad optimizer(net->parameters(), 0.01);
  perceptron_step(net, optimizer, 0);
  try {
    optimizer.step([&]() -> Tensor { return net->forward(torch::randn({4, 7})).sum(); });
  } catch (const c10::Error&) {
    std::printf("shapes do not fit\n");
  }
  perceptron_step(net, optimizer, 1);
  print_digest(*net);
  return 0;
}

// The gradients come from within step().
int closure() {
  nn::Sequential net = perceptron();
  optim::LBFGS optimizer(net->parameters(), optim::LBFGSOptions(0.1).max_iter(2));
  for (int step = 0; step < 2; ++step) {
    const Tensor input = torch::randn({4, 3});
    optimizer.step([&] {
      optimizer.zero_grad();
      const Tensor loss = torch::mse_loss(net->forward(input), input.sum(1, true));
      loss.backward();
      return loss;
    });
    print_gradients(step, *net);
    print_parameters(step, *net);
  }
  print_digest(*net);
  return 0;
}

// Children that train and end in each way.
int forks() {
  nn::Sequential net = perceptron();
  optim::SGD optimizer(net->parameters(), 0.01);
  perceptron_step(net, optimizer, 0);
  for (const bool by_exit : {true, false}) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      perceptron_step(net, optimizer, 1, false);
      if (by_exit) std::exit(0);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("child ended with %d\n", WEXITSTATUS(status));
  }
  perceptron_step(net, optimizer, 1);
  print_digest(*net);
  return 0;
}

// Models that come and go, owned and on the stack, at addresses that are used again; and one that moves to an owner.
int folds() {
  int step = 0;
  for (int fold = 0; fold < 3; ++fold) {
    nn::Sequential net = perceptron();
    optim::SGD optimizer(net->parameters(), 0.01);
    for (int i = 0; i < 2; ++i) perceptron_step(net, optimizer, step++);
    print_digest(*net);
    for (int unused = 0; unused < 3; ++unused) ConvNet().parameters();
    std::unique_ptr<ConvNet> own(new ConvNet);
    own->named_parameters();
    const std::shared_ptr<ConvNet> shared(std::move(own));
    shared->parameters();
  }
  return 0;
}

// One optimizer after another of another class, in the same place.
int changes_optimizer() {
  nn::Sequential net = perceptron();
  alignas(optim::Adam) alignas(optim::SGD) unsigned char place[std::max(sizeof(optim::Adam), sizeof(optim::SGD))];
  auto* first = new (place) optim::Adam(net->parameters(), 0.01);
  perceptron_step(net, *first, 0);
  first->~Adam();
  auto* second = new (place) optim::SGD(net->parameters(), optim::SGDOptions(0.01).momentum(0.9));
  for (int step = 1; step < 3; ++step) perceptron_step(net, *second, step);
  second->~SGD();
  print_digest(*net);
  return 0;
}

// What other threads do is not part of the training.
int threads() {
  nn::Sequential net = perceptron();
  optim::SGD optimizer(net->parameters(), 0.01);
  perceptron_step(net, optimizer, 0);
  for (int step = 1; step < 3; ++step) {
    std::thread loader([] {
      nn::Linear other(2, 2);
      optim::SGD of_other(other->parameters(), 0.1);
      torch::mse_loss(other(torch::ones({1, 2})), torch::zeros({1, 2})).backward();
      of_other.step();
    });
    loader.join();
    perceptron_step(net, optimizer, step);
  }
  print_digest(*net);
  return 0;
}

// Trains until somebody stops it.
int explodes() {
  nn::Linear net(3, 1);
  optim::SGD optimizer(net->parameters(), 1e30);
  for (int step = 0; step < 1'000'000; ++step) {
    optimizer.zero_grad();
    net(torch::ones({4, 3})).square().mean().backward();
    optimizer.step();
  }
  return 0;
}

int does_not_train() {
  nn::Linear net(2, 2);
  std::printf("%ld parameters\n", static_cast<long>(net->parameters().size()));
  return 0;
}

double thread_time_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

// A small convolutional network without truth, for measuring: the thread's time in the median step.
int speed() {
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 16, 3).padding(1)), nn::ReLU(),
                     nn::Conv2d(nn::Conv2dOptions(16, 16, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2),
                     nn::Conv2d(nn::Conv2dOptions(16, 32, 3).padding(1)), nn::ReLU(),
                     nn::Conv2d(nn::Conv2dOptions(32, 32, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(),
                     nn::Linear(32 * 7 * 7, 10));
  optim::SGD optimizer(net->parameters(), 0.01);
  const Tensor images = torch::rand({64, 1, 28, 28});
  const Tensor labels = torch::randint(0, 10, {64}, torch::kLong);
  std::vector<double> times_ms;
  for (int step = 0; step < 120; ++step) {
    const double begin_ms = thread_time_ms();
    optimizer.zero_grad();
    nn::functional::cross_entropy(net->forward(images), labels).backward();
    optimizer.step();
    if (step >= 20) times_ms.push_back(thread_time_ms() - begin_ms);
  }
  std::sort(times_ms.begin(), times_ms.end());
  std::printf("median step %.3f ms\n", times_ms[times_ms.size() / 2]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, int (*)()> scenarios = {{"changes_optimizer", changes_optimizer},
                                                      {"closure", closure},
                                                      {"conv", conv},
                                                      {"does_not_train", does_not_train},
                                                      {"explodes", explodes},
                                                      {"exits", exits},
                                                      {"ends_at_once", ends_at_once},
                                                      {"folds", folds},
                                                      {"forks", forks},
                                                      {"gan", gan},
                                                      {"poisoned", poisoned},
                                                      {"recovers", recovers},
                                                      {"speed", speed},
                                                      {"threads", threads},
                                                      {"throws", throws},
                                                      {"transformer", transformer}};
  const auto scenario = scenarios.find(argc == 2 ? argv[1] : "");
  if (scenario == scenarios.end()) return 2;
  torch::manual_seed(1);
  torch::set_num_threads(1);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // a program that a signal ends has told what it did
  return scenario->second();
}
