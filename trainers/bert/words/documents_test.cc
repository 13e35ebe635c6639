#include "words/documents.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>
#include <unistd.h>

namespace bert {
namespace {

namespace fs = std::filesystem;

Tokenizer small_tokenizer() {
  return {Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "c"}, "a test"), {}};
}

TEST(DocumentsTest, AreLinesThatAreNotBlank) {
  const fs::path file = fs::path(testing::TempDir()) / ("documents_test-" + std::to_string(::getpid()) + ".txt");
  std::ofstream(file) << "one\n\n \r\ntwo\r\nthree";
  EXPECT_EQ(read_documents(file), (std::vector<std::string>{"one", "two\r", "three"}));
  std::ofstream(file) << "\n \n";
  EXPECT_THROW(read_documents(file), std::runtime_error);
  std::ofstream(file) << "one\n\xff\n";
  try {
    read_documents(file);
    FAIL() << "bytes that are no UTF-8 are a document";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("line 2: expected UTF-8"), std::string::npos) << error.what();
  }
  fs::remove(file);
  EXPECT_THROW(read_documents(file), std::runtime_error);
}

TEST(DocumentsTest, APartIsHeldOut) {
  std::vector<std::string> documents;
  for (int i = 0; i < 50; ++i) documents.push_back(std::to_string(i));
  const HeldOut parts = hold_out(documents, 0.1, 1);
  EXPECT_EQ(parts.held_out.size(), 5u);
  EXPECT_EQ(parts.rest.size(), 45u);
  for (const std::string& document : parts.held_out)
    EXPECT_EQ(std::count(parts.rest.begin(), parts.rest.end(), document), 0) << document;
  EXPECT_EQ(hold_out(documents, 0.1, 1).held_out, parts.held_out);
  EXPECT_NE(hold_out(documents, 0.1, 2).held_out, parts.held_out);
  EXPECT_EQ(hold_out({"a", "b", "c"}, 0.01, 1).held_out.size(), 1u);
  EXPECT_TRUE(hold_out({"a"}, 0.5, 1).held_out.empty());
}

TEST(DocumentsTest, TheFirstWindowIsTheBeginning) {
  const Tokenizer tokenizer = small_tokenizer();
  EXPECT_EQ(first_window(tokenizer, "a b c", 4), (Pieces{2, 5, 6, 3}));
  EXPECT_EQ(first_window(tokenizer, "a b c", 9), (Pieces{2, 5, 6, 7, 3}));
  EXPECT_EQ(first_window(tokenizer, "", 9), (Pieces{2, 3}));
}

TEST(DocumentsTest, WindowsHoldAllOfADocument) {
  const Tokenizer tokenizer = small_tokenizer();
  EXPECT_EQ(windows_of_document(tokenizer, "a b c", 4), (std::vector<Pieces>{{2, 5, 6, 3}, {2, 7, 3}}));
  EXPECT_EQ(windows_of_document(tokenizer, "a b", 4), (std::vector<Pieces>{{2, 5, 6, 3}}));
  EXPECT_TRUE(windows_of_document(tokenizer, " ", 4).empty());
}

}  // namespace
}  // namespace bert
