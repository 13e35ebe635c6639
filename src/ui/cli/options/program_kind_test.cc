// Which programs can be watched.
#include "ui/cli/options/program_kind.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <elf.h>
#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

class ProgramKindTest : public testing::Test {
 protected:
  fs::path program(const std::string& name, const std::string& bytes) const {
    const fs::path file = folder_ / name;
    std::ofstream(file, std::ios::binary) << bytes;
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  Environment path_is_here() const {
    return [path = "/no/such/folder:" + folder_.string()](const char* name) -> const char* {
      return std::string(name) == "PATH" ? path.c_str() : nullptr;
    };
  }

  const TestFolder own_;
  const fs::path folder_ = own_.path();
};

TEST_F(ProgramKindTest, FindsWhatAShellWouldStart) {
  const fs::path file = program("train", "#!/bin/sh\n");
  EXPECT_EQ(find_program("train", path_is_here()), file);
  EXPECT_EQ(find_program(file.string(), path_is_here()), file);
  EXPECT_EQ(find_program("", path_is_here()), std::nullopt);
  EXPECT_EQ(find_program("--epochs", path_is_here()), std::nullopt);
  EXPECT_EQ(find_program(folder_.string(), path_is_here()), std::nullopt);
  fs::permissions(file, fs::perms::owner_read);
  EXPECT_EQ(find_program("train", path_is_here()), std::nullopt);
}

TEST_F(ProgramKindTest, ScriptsAndInterpreters) {
  EXPECT_EQ(kind_of_program(program("launch", "#!/usr/bin/env python3\nprint(1)\n")), ProgramKind::kPython);
  EXPECT_EQ(kind_of_program(program("python3.11", "anything")), ProgramKind::kPython);
  EXPECT_EQ(kind_of_program(program("train.sh", "#!/bin/sh\n")), ProgramKind::kOther);
  EXPECT_EQ(kind_of_program(program("empty", "")), ProgramKind::kOther);
  EXPECT_EQ(kind_of_program(folder_ / "missing"), ProgramKind::kNone);
}

TEST_F(ProgramKindTest, ALinkToPythonIsPython) {
  program("python3", "anything");
  fs::create_symlink(folder_ / "python3", folder_ / "py");
  EXPECT_EQ(kind_of_program(folder_ / "py"), ProgramKind::kPython);
}

TEST_F(ProgramKindTest, AnOrdinaryProgramHasNoLibTorch) {
  EXPECT_EQ(kind_of_program(fs::read_symlink("/proc/self/exe")), ProgramKind::kOther);
}

TEST_F(ProgramKindTest, AProgramWithoutALoaderIsStatic) {
  Elf64_Ehdr header{};
  std::string(ELFMAG).copy(reinterpret_cast<char*>(header.e_ident), SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  const std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  EXPECT_EQ(kind_of_program(program("static", bytes)), ProgramKind::kStatic);
  header.e_phnum = 0xffff;  // program headers that are not there
  const std::string damaged(reinterpret_cast<const char*>(&header), sizeof header);
  EXPECT_EQ(kind_of_program(program("damaged", damaged)), ProgramKind::kStatic);
  EXPECT_EQ(kind_of_program(program("short", bytes.substr(0, 20))), ProgramKind::kOther);
}

TEST_F(ProgramKindTest, NamesAreNotForTheShell) {
  const fs::path copy = folder_ / "a b' ; echo c";
  fs::copy_file(fs::read_symlink("/proc/self/exe"), copy);
  EXPECT_EQ(kind_of_program(copy), ProgramKind::kOther);
}

}  // namespace
}  // namespace trainwarden::cli
