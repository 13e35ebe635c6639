// WeakTensor: a tensor of the user's, without keeping it alive.
#pragma once

#include <ATen/core/Tensor.h>

namespace trainwarden::torch {

class WeakTensor {
 public:
  explicit WeakTensor(const at::Tensor& tensor) : impl_(tensor.getIntrusivePtr()) {}

  at::Tensor lock() const { return at::Tensor(impl_.lock()); }  // undefined when it is gone
  // No other tensor has this address as long as this object lives.
  const c10::TensorImpl* address() const { return impl_._unsafe_get_target(); }

 private:
  c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> impl_;
};

}  // namespace trainwarden::torch
