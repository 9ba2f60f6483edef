/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we use of CUPTI's binary interface, declared here: the library is the job's own, found when the job starts CUDA, and
 * neither its headers nor the library are needed to build this.
 *
 * Of activity records only those leading fields are read that have the same offset in all versions since CUDA 11.0
 * (CUpti_ActivityKernel5 to 10, Memcpy3 to 6, MemcpyPtoP3 and 4, Memset2 to 4, Overhead 1 to 3, API; offsetof() of the headers of
 * 12.8 and 13.0). What a newer version adds stands behind them, and cuptiActivityGetNextRecord knows how long a record is.
 */
#ifndef ZERNEL_CUPTI_H
#define ZERNEL_CUPTI_H

#include <stddef.h>
#include <stdint.h>

/* CUptiResult */
enum {
	CUPTI_OK = 0,
	CUPTI_LIMIT = 12,     /* up to CUDA 10: there is a subscriber */
	CUPTI_SUBSCRIBED = 39 /* there is a subscriber */
};

/* CUpti_ActivityKind */
enum {
	KIND_MEMCPY = 1,
	KIND_MEMSET = 2,
	KIND_KERNEL = 3,
	KIND_DRIVER = 4,
	KIND_RUNTIME = 5,
	KIND_CONCURRENT_KERNEL = 10,
	KIND_OVERHEAD = 17,
	KIND_MEMCPY_PEER = 22
};

/* CUpti_CallbackDomain */
enum {
	DOMAIN_DRIVER = 1,
	DOMAIN_RUNTIME = 2
};

enum {
	FLUSH_FORCED = 1
};

struct activity_kernel {
	uint32_t kind;
	uint32_t unread_4[3];
	uint64_t start; /* 0: not known */
	uint64_t end;
	uint64_t completed;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	int32_t grid[3];
	int32_t block[3];
	int32_t shared_memory[2];
	uint32_t local_memory[2];
	uint32_t correlation;
	int64_t grid_id;
	const char *name; /* mangled */
};

struct activity_copy {
	uint32_t kind;
	uint8_t direction; /* CUpti_ActivityMemcpyKind */
	uint8_t from;	   /* CUpti_ActivityMemoryKind */
	uint8_t to;
	uint8_t flags;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t correlation; /* of a copy between GPUs another field */
	uint32_t unread_48[3];
	uint32_t correlation_of_peers;
};

struct activity_fill {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t correlation;
	uint16_t flags;
	uint16_t memory;
};

struct activity_overhead {
	uint32_t kind;
	uint32_t unread_4[5];
	uint64_t start;
	uint64_t end;
};

struct activity_call {
	uint32_t kind;
	uint32_t function;
	uint64_t start;
	uint64_t end;
	uint32_t process;
	uint32_t thread;
	uint32_t correlation;
};

_Static_assert(offsetof(struct activity_kernel, start) == 16, "CUpti_ActivityKernel.start");
_Static_assert(offsetof(struct activity_kernel, device) == 40, "CUpti_ActivityKernel.deviceId");
_Static_assert(offsetof(struct activity_kernel, grid) == 52, "CUpti_ActivityKernel.gridX");
_Static_assert(offsetof(struct activity_kernel, correlation) == 92,
	       "CUpti_ActivityKernel.correlationId");
_Static_assert(offsetof(struct activity_kernel, name) == 104, "CUpti_ActivityKernel.name");
_Static_assert(offsetof(struct activity_copy, correlation) == 44,
	       "CUpti_ActivityMemcpy.correlationId");
_Static_assert(offsetof(struct activity_copy, correlation_of_peers) == 60,
	       "CUpti_ActivityMemcpyPtoP.correlationId");
_Static_assert(offsetof(struct activity_fill, memory) == 50, "CUpti_ActivityMemset.memoryKind");
_Static_assert(offsetof(struct activity_overhead, start) == 24, "CUpti_ActivityOverhead.start");
_Static_assert(offsetof(struct activity_call, correlation) == 32,
	       "CUpti_ActivityAPI.correlationId");

typedef void buffer_requested(uint8_t **buffer, size_t *size, size_t *most_records);
typedef void buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			      size_t valid);
typedef void subscriber_called(void *data, int domain, uint32_t function, const void *info);

/* All return a CUptiResult. Those that may be missing in old versions are NULL then. */
#define CUPTI_FUNCTIONS(F)                                                                        \
	F(required, cuptiGetVersion, (uint32_t * version))                                        \
	F(required, cuptiGetTimestamp, (uint64_t * nanos))                                        \
	F(required, cuptiSubscribe, (void **subscriber, subscriber_called *called, void *data))   \
	F(required, cuptiUnsubscribe, (void *subscriber))                                         \
	F(required, cuptiGetCallbackName, (int domain, uint32_t function, const char **name))     \
	F(required, cuptiActivityRegisterCallbacks,                                               \
	  (buffer_requested * requested, buffer_completed * completed))                           \
	F(required, cuptiActivityEnable, (int kind))                                              \
	F(required, cuptiActivityDisable, (int kind))                                             \
	F(required, cuptiActivityFlushAll, (uint32_t flags))                                      \
	F(required, cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid, void **record))  \
	F(required, cuptiActivityGetNumDroppedRecords,                                            \
	  (void *context, uint32_t stream, size_t *dropped))                                      \
	F(optional, cuptiGetResultString, (int result, const char **text))                        \
	F(optional, cuptiActivityEnableDriverApi, (uint32_t function, uint8_t enable))            \
	F(optional, cuptiActivityEnableRuntimeApi, (uint32_t function, uint8_t enable))

struct cupti {
#define CUPTI_MEMBER(need, name, parameters) int(*name) parameters;
	CUPTI_FUNCTIONS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
	uint32_t version;
	char path[512];
};

/* Finds and opens the job's own library. Returns why it cannot be used, or NULL. */
const char *cupti_open(struct cupti *cupti);
/* What a result means, e.g. CUPTI_ERROR_NOT_INITIALIZED. */
const char *cupti_text(const struct cupti *cupti, int result);

#endif
