// Modules are known as long as they live, whoever owns them.
#include "module_registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace trainwarden::torch {
namespace {

using ::torch::nn::Module;

bool is_known(const Module* module) {
  const auto modules = ModuleRegistry::instance().live();
  return std::any_of(modules.begin(), modules.end(), [&](const LiveModule& live) { return live.module == module; });
}

std::vector<const Module*> roots() {
  std::vector<const Module*> addresses;
  for (const LiveModule& live : roots_of(ModuleRegistry::instance().live())) addresses.push_back(live.module);
  return addresses;
}

TEST(ModuleRegistry, AModuleOnTheStackIsKnownUntilItsEnd) {
  const Module* address = nullptr;
  {
    Module module;
    address = &module;
    EXPECT_FALSE(is_known(address));
    ModuleRegistry::instance().add(module);
    ModuleRegistry::instance().add(module);
    EXPECT_TRUE(is_known(address));
  }
  EXPECT_FALSE(is_known(address));
}

TEST(ModuleRegistry, AnOwnedModuleIsKnownUntilItsEndAndNotKeptAlive) {
  auto module = std::make_shared<Module>();
  const Module* address = module.get();
  ModuleRegistry::instance().add(*module);
  EXPECT_EQ(module.use_count(), 1);
  EXPECT_TRUE(is_known(address));
  module.reset();
  EXPECT_FALSE(is_known(address));
}

TEST(ModuleRegistry, AModuleThatGetsAnOwnerIsForgottenUntilItIsMetAgain) {
  auto alone = std::make_unique<Module>();
  Module* const address = alone.get();
  ModuleRegistry::instance().add(*alone);
  const std::shared_ptr<Module> owner = std::move(alone);
  EXPECT_FALSE(is_known(address));
  EXPECT_EQ(address->shared_from_this(), owner);
  EXPECT_EQ(owner.use_count(), 1);
  ModuleRegistry::instance().add(*owner);
  EXPECT_TRUE(is_known(address));
}

TEST(ModuleRegistry, AModuleWithoutAnOwnerStillHasNone) {
  Module module;
  ModuleRegistry::instance().add(module);
  EXPECT_EQ(module.weak_from_this().lock(), nullptr);
  EXPECT_THROW(module.shared_from_this(), std::bad_weak_ptr);
}

TEST(ModuleRegistry, AnAddressThatIsUsedAgainIsAnotherModule) {
  std::optional<Module> place;
  place.emplace();
  const Module* const address = &*place;
  ModuleRegistry::instance().add(*place);
  const std::uint64_t number = ModuleRegistry::instance().live().back().number;
  place.emplace();
  ASSERT_EQ(&*place, address);
  EXPECT_FALSE(ModuleRegistry::instance().find(address, number));
  ModuleRegistry::instance().add(*place);
  EXPECT_FALSE(ModuleRegistry::instance().find(address, number));
  EXPECT_TRUE(is_known(address));
}

TEST(ModuleRegistry, ALiveModuleInHandStaysAlive) {
  auto module = std::make_shared<Module>();
  ModuleRegistry::instance().add(*module);
  const LiveModule live = ModuleRegistry::instance().live().back();
  module.reset();
  EXPECT_TRUE(is_known(live.module));
}

TEST(ModuleRegistry, RootsAreInNoOther) {
  Module outer;
  const auto middle = outer.register_module("middle", std::make_shared<Module>());
  const auto inner = middle->register_module("inner", std::make_shared<Module>());
  Module other;
  for (const Module* module : {inner.get(), middle.get(), &other, &outer}) ModuleRegistry::instance().add(*module);
  EXPECT_EQ(roots(), (std::vector<const Module*>{&other, &outer}));
}

TEST(ModuleRegistry, TheVersionTellsOfChanges) {
  const std::uint64_t before = ModuleRegistry::instance().version();
  {
    Module module;
    ModuleRegistry::instance().add(module);
    const std::uint64_t with_module = ModuleRegistry::instance().version();
    EXPECT_NE(with_module, before);
    ModuleRegistry::instance().add(module);
    EXPECT_EQ(ModuleRegistry::instance().version(), with_module);
  }
  EXPECT_NE(ModuleRegistry::instance().version(), before + 1);
}

}  // namespace
}  // namespace trainwarden::torch
