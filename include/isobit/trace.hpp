// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Job: record what each rank of a program read and wrote, and find the first event at which two runs differ. For the
//! host only; kernels contribute `digest_sum`s (isobit/fingerprint.hpp). docs/traces.md has the format and the workflow.
#pragma once

#include <isobit/trace/compare.hpp>
#include <isobit/trace/read.hpp>
#include <isobit/trace/recorder.hpp>
