// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The examples' kernels under nvcc: the same files that the tests run on the CPU.
#include <isobit/combine.hpp>
#include <isobit/fingerprint.hpp>
#include <isobit/quantize.hpp>
#include <isobit/reduce.hpp>
#include <isobit/scan.hpp>
#include <isobit/scatter.hpp>
#include <isobit/slots.hpp>

// Each in a namespace of its own, because names like `step` occur twice; isobit itself is included above.
namespace example_block_sum {
#include "block_sum/block_sum.cuh"
}
namespace example_own_operator {
#include "own_operator/own_operator.cuh"
}
namespace example_rms_norm {
#include "rms_norm/rms_norm.cuh"
}
namespace example_softmax_denominator {
#include "softmax_denominator/softmax_denominator.cuh"
}
namespace example_layer_norm_backward {
#include "layer_norm_backward/layer_norm_backward.cuh"
}
namespace example_split_k {
#include "split_k/split_k.cuh"
}
namespace example_moe_combine {
#include "moe_combine/moe_combine.cuh"
}
namespace example_embedding_gradient {
#include "embedding_gradient/embedding_gradient.cuh"
}
namespace example_selective_scan {
#include "selective_scan/selective_scan.cuh"
}
namespace example_mxfp8_activation {
#include "mxfp8_activation/mxfp8_activation.cuh"
}
namespace example_nvfp4_weights {
#include "nvfp4_weights/nvfp4_weights.cuh"
}
namespace example_digest_in_kernel {
#include "digest_in_kernel/digest_in_kernel.cuh"
}
