// Answers without the texts of the training: what is left out of a page that is given to strangers.
#pragma once

#include <string>

namespace trainwarden::answers {

// The answer, JSON or safetensors, with nothing in the place of: the command, labels and host; paths and folders;
// reasons, messages, advice, details and headlines; answers of handlers; the texts of tokens. Names of the run, of
// workers, tensors, collections and rules, and all numbers stay.
std::string without_texts(const std::string& body);

}  // namespace trainwarden::answers
