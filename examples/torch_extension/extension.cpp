// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two operators for PyTorch, on its CPU tensors: RMSNorm by rows, and a cast to MXFP8. A row's bits depend on that row
// alone: not on the batch, the number of threads, or the flush-to-zero mode that the program has set.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/library.h>

#include <isobit/quantize.hpp>
#include <isobit/reduce.hpp>

#include <tuple>

namespace {

struct square {
  float operator()(float x) const { return isobit::mul(x, x); }
};

void check_matrix(char const* name, at::Tensor const& x) {
  TORCH_CHECK(x.dim() == 2 && x.is_contiguous(), name, " must be a contiguous matrix");
}

// y[r][c] = x[r][c] / sqrt(mean of x[r]^2 + eps) * weight[c], every operation rounded to float.
template <class T> void norm_row(T const* x, float const* weight, float eps, std::uint64_t cols, T* y) {
  float const squares = isobit::reduce(isobit::host(), cols, isobit::map(x, square{}));
  float const mean = isobit::div(squares, isobit::convert<float>(cols));
  float const scale = isobit::div(1.0f, isobit::sqrt(isobit::add(mean, eps)));
  for (std::uint64_t c = 0; c < cols; ++c)
    y[c] = isobit::encode_element<T>(isobit::mul(isobit::mul(isobit::decode_element(x[c]), scale), weight[c]));
}

template <class T> void norm_rows(at::Tensor const& x, float const* weight, float eps, at::Tensor& y) {
  auto const rows = x.size(0), cols = x.size(1);
  auto const* const from = static_cast<T const*>(x.const_data_ptr());
  auto* const to = static_cast<T*>(y.mutable_data_ptr());
  at::parallel_for(0, rows, 16, [&](std::int64_t first, std::int64_t last) {
    isobit::with_default_environment([&] {
      for (auto r = first; r < last; ++r) norm_row(from + r * cols, weight, eps, std::uint64_t(cols), to + r * cols);
    });
  });
}

at::Tensor rms_norm(at::Tensor const& x, at::Tensor const& weight, double eps) {
  check_matrix("x", x);
  TORCH_CHECK(weight.scalar_type() == at::kFloat && weight.is_contiguous() && weight.numel() == x.size(1),
              "weight must be contiguous, of float32, one for each column");
  auto y = at::empty_like(x);
  auto const small = isobit::convert<float>(eps);
  if (x.scalar_type() == at::kFloat)
    norm_rows<float>(x, weight.const_data_ptr<float>(), small, y);
  else if (x.scalar_type() == at::kBFloat16)
    norm_rows<isobit::bf16>(x, weight.const_data_ptr<float>(), small, y);
  else
    TORCH_CHECK(false, "x must be of float32 or bfloat16");
  return y;
}

// Codes [rows][cols] and scales [rows][ceil(cols / 32)], the round-up rule.
std::tuple<at::Tensor, at::Tensor> mxfp8(at::Tensor const& x) {
  using recipe = isobit::mxfp8<isobit::e4m3, isobit::mx::rceil>;
  check_matrix("x", x);
  auto const rows = std::uint64_t(x.size(0)), cols = std::uint64_t(x.size(1));
  auto const blocks = std::int64_t(isobit::blocks_per_row<recipe>(cols));
  auto codes = at::empty(x.sizes(), x.options().dtype(at::kFloat8_e4m3fn));
  auto scales = at::empty({x.size(0), blocks}, x.options().dtype(at::kFloat8_e8m0fnu));
  auto* const code = static_cast<isobit::e4m3*>(codes.mutable_data_ptr());
  auto* const scale = static_cast<isobit::e8m0*>(scales.mutable_data_ptr());
  if (x.scalar_type() == at::kFloat)
    isobit::quantize(isobit::host(), recipe{}, x.const_data_ptr<float>(), rows, cols, code, scale);
  else if (x.scalar_type() == at::kBFloat16)
    isobit::quantize(isobit::host(), recipe{}, static_cast<isobit::bf16 const*>(x.const_data_ptr()), rows, cols, code,
                     scale);
  else
    TORCH_CHECK(false, "x must be of float32 or bfloat16");
  return {codes, scales};
}

// Shapes without numbers, for torch.compile and tensors on "meta".
at::Tensor rms_norm_shape(at::Tensor const& x, at::Tensor const&, double) { return at::empty_like(x); }

} // namespace

TORCH_LIBRARY(isobit_example, library) {
  library.def("rms_norm(Tensor x, Tensor weight, float eps) -> Tensor");
  library.def("mxfp8(Tensor x) -> (Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(isobit_example, CPU, library) {
  library.impl("rms_norm", &rms_norm);
  library.impl("mxfp8", &mxfp8);
}
TORCH_LIBRARY_IMPL(isobit_example, Meta, library) { library.impl("rms_norm", &rms_norm_shape); }
