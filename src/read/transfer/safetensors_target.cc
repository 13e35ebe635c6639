// safetensors: one document for each step of each worker. What safetensors has no type for is said in its metadata, as
// in the frames of our own runs (docs/format/records.md, "bundle").
#include "data/format/bundle.h"
#include "read/transfer/step_file_target.h"

namespace trainwarden::transfer {
namespace {

std::vector<std::string> strings_of(const TensorView& view) {
  if (view.dtype != DType::kString) return {};
  const auto* texts = static_cast<const std::string_view*>(view.data);
  return {texts, texts + view.element_count()};
}

class SafetensorsTarget final : public StepFileTarget {
 public:
  explicit SafetensorsTarget(const TargetPlan& plan) : StepFileTarget(plan, "safetensors") {}

 private:
  Status write_step(const std::filesystem::path& path, const WorkerStep& step,
                    std::span<const HeldTensor> tensors) override {
    std::vector<std::vector<std::string>> strings;
    for (const HeldTensor& held : tensors) strings.push_back(strings_of(held.value.view));
    std::vector<format::KeptTensor> kept;
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TensorView& view = tensors[i].value.view;
      kept.push_back({0, view.dtype, view.shape, bytes_of(view), strings[i]});
      names.push_back(tensors[i].name);
      note_disguise(tensors[i]);
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const format::BundleLayout layout,
                                 format::plan_bundle(kept, names, step_words(plan().trial, step)));
    return write_document(path, layout, kept);
  }

  static ByteSpan bytes_of(const TensorView& view) {
    if (view.dtype == DType::kString) return {};
    return {static_cast<const std::byte*>(view.data), view.packed_bytes()};
  }

  void note_disguise(const HeldTensor& held) {
    const DType dtype = held.value.view.dtype;
    if (is_complex(dtype)) plan().notes.changed("complex numbers as pairs of reals", held.name);
    if (dtype == DType::kString) plan().notes.changed("texts as their bytes", held.name);
  }

  Status write_document(const std::filesystem::path& path, const format::BundleLayout& layout,
                        std::span<const format::KeptTensor> kept) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto file, OutputFile::create(path, plan().tally));
    TRAINWARDEN_RETURN_IF_ERROR(file->append(layout.header));
    for (const std::size_t i : layout.order) {
      std::vector<ByteSpan> parts;
      format::append_data_parts(kept[i], parts);
      for (const ByteSpan part : parts) TRAINWARDEN_RETURN_IF_ERROR(file->append(part));
    }
    return file->commit();
  }
};

}  // namespace

Result<std::unique_ptr<TargetWriter>> open_safetensors_target(const TargetPlan& plan) {
  return std::unique_ptr<TargetWriter>(std::make_unique<SafetensorsTarget>(plan));
}

}  // namespace trainwarden::transfer
