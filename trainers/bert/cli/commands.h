// The sub-commands of `bert`. Each adds itself and, where it is chosen, sets what is to be done, which gives the exit
// code.
#pragma once

#include <functional>

#include <CLI/App.hpp>

namespace bert {

void add_train_spans(CLI::App& app, std::function<int()>& chosen);
void add_prepare_classes(CLI::App& app, std::function<int()>& chosen);  // parts texts for a training
void add_train_classes(CLI::App& app, std::function<int()>& chosen);
void add_train_words(CLI::App& app, std::function<int()>& chosen);
void add_convert(CLI::App& app, std::function<int()>& chosen);  // models as others published them
void add_answer(CLI::App& app, std::function<int()>& chosen);   // writes a model's answers
void add_score(CLI::App& app, std::function<int()>& chosen);    // of answers that are in a file

}  // namespace bert
