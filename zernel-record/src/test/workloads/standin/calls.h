/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_X(...) for every function X of the stand-ins: calls it and says so in the truth. An includer that wants them
 * defines CALL_DRIVER(name), CALL_RUNTIME(name) or CALL_NCCL(name), the function to be called.
 */
#ifndef STANDIN_CALLS_H
#define STANDIN_CALLS_H

#include "gpu.h"
#include "ledger.h"
#include "truth.h"
#include "types.h"

#include <string.h>

struct ncclComm {
	long id, rank, nranks;
	long told_rank, told_nranks; /* NONE: nobody has said it yet */
	long calls; /* of collectives, send and receive */
	long children;
};

extern __thread int nccl_groups;

#define DECLARED(result, name, parameters) extern result name parameters;
#define CALLER(kind, name, callee, parameters, arguments, ...)                                                         \
	static inline int call_##name parameters                                                                       \
	{                                                                                                              \
		return CALL(KIND_##kind, #name, (int)callee arguments, __VA_ARGS__);                                   \
	}

#define F(per_thread, kind, name, parameters, arguments, does, sample, ...) DECLARED(CUresult, name, parameters)
#include "driver.def"
#define F(per_thread, kind, name, parameters, arguments, does, sample, ...) DECLARED(cudaError_t, name, parameters)
#include "runtime.def"
#define F(per_thread, kind, name, parameters, arguments, does, sample, ...) DECLARED(ncclResult_t, nccl##name, parameters)
#include "nccl.def"

static const char *const kind_names[] = { "HtoH", "HtoD", "DtoH", "DtoD", "default" };
static const char *const operations[] = { "sum", "prod", "max", "min", "avg" };
static const struct {
	const char *name;
	int bytes;
} types[] = {
	{ "int8", 1 },	  { "uint8", 1 },    { "int32", 4 },   { "uint32", 4 },	  { "int64", 8 },	{ "uint64", 8 },
	{ "float16", 2 }, { "float32", 4 },  { "float64", 8 }, { "bfloat16", 2 }, { "float8_e4m3", 1 }, { "float8_e5m2", 1 },
};

static inline const char *host_memory(int kind, const void *dst, const void *src)
{
	const char *from = pinned_name(src), *to = pinned_name(dst);

	switch (kind) {
	case cudaMemcpyHostToDevice:
		return from;
	case cudaMemcpyDeviceToHost:
		return to;
	case cudaMemcpyDefault: /* a pointer that is not pinned may be one of a device */
		return strcmp(from, "pinned") == 0 ? from : strcmp(to, "pinned") == 0 ? to : NULL;
	default:
		return NULL;
	}
}

#ifdef CALL_DRIVER
#define F(per_thread, kind, name, parameters, arguments, does, sample, ...)                                            \
	CALLER(kind, name, CALL_DRIVER(name), parameters, arguments, __VA_ARGS__)
#include "driver.def"
#endif

#ifdef CALL_RUNTIME
#define F(per_thread, kind, name, parameters, arguments, does, sample, ...)                                            \
	CALLER(kind, name, CALL_RUNTIME(name), parameters, arguments, __VA_ARGS__)
#include "runtime.def"
#endif

#ifdef CALL_NCCL
#define F(per_thread, kind, name, parameters, arguments, does, sample, ...)                                            \
	CALLER(kind, nccl##name, CALL_NCCL(nccl##name), parameters, arguments, __VA_ARGS__)
#include "nccl.def"
#endif

#endif
