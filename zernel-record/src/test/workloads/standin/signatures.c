/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles only when the stand-ins have the signatures of the vendors' headers, as far as these declare the functions:
 * gcc -fsyntax-only -D__CUDA_API_VERSION_INTERNAL -DCUDART=12 -I.../include -I.../nccl/include -Iheaders signatures.c
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
/* What nccl.h includes beside is C++, and not for its functions. */
#define __CUDA_RUNTIME_H__
#define __CUDA_FP16_H__
#define __CUDA_BF16_H__
#define __CUDA_FP8_H__
#include <nccl.h>

#define F(per_thread, kind, name, parameters, arguments, does, sample, ...) extern CUresult name parameters;
#include "driver.def"
#define F(per_thread, kind, name, parameters, arguments, does, sample, ...) extern cudaError_t name parameters;
#include "runtime.def"
#define F(per_thread, kind, name, parameters, arguments, does, sample, ...) extern ncclResult_t nccl##name parameters;
#include "nccl.def"
