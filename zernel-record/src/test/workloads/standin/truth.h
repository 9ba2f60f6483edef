/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What really happened, call by call: kept in memory by each thread and written as CSV when the process ends. One row
 * per call, with the columns that a recording has for it; what does not apply is empty.
 */
#ifndef STANDIN_TRUTH_H
#define STANDIN_TRUTH_H

#include <limits.h>
#include <stdbool.h>
#include <time.h>

#define NONE LONG_MIN

#define KINDS(K)                                                                                                       \
	K(none) K(cuda_launch) K(cuda_graph) K(cuda_copy) K(cuda_sync) K(gpu_alloc) K(gpu_free) K(gpu_map)             \
	K(torch_alloc) K(torch_free) K(nccl) K(nccl_comm)

#define NUMBERS(C)                                                                                                     \
	C(addr) C(async) C(block_x) C(block_y) C(block_z) C(bytes) C(color) C(comm_id) C(communicator) C(count)          \
	C(device) C(func) C(grid_x) C(grid_y) C(grid_z) C(grouped) C(nranks) C(parent) C(peer) C(rank) C(seq)          \
	C(shared_bytes) C(src) C(stream)

#define TEXTS(C) C(copy_kind) C(dtype) C(host_memory) C(kernel) C(op)

#define KIND_CONSTANT(k) KIND_##k,
enum kind { KINDS(KIND_CONSTANT) KIND_COUNT };

struct columns {
#define NUMBER_MEMBER(c) long c;
#define TEXT_MEMBER(c) const char *c;
	NUMBERS(NUMBER_MEMBER)
	TEXTS(TEXT_MEMBER)
};

struct called {
	enum kind kind;
	const char *symbol;
	bool probed;
	bool instant;
	int pid, tid;
	long n; /* in the order of the calls' beginnings in this thread */
	long depth, status;
	long begin_ns, end_ns;
	struct columns is;
};

/* Opens a row. Calls in between are inside it; of those, only probed ones count for the depth. */
struct called *truth_begin(enum kind kind, const char *symbol);
void truth_end(struct called *row, long end_ns, long status, struct columns is);
/* A row without duration. */
void truth_instant(enum kind kind, const char *symbol, struct columns is);
/* Has these called at the beginning and the end of each call; it knows the columns then. NULL ends it. */
void truth_watch(void (*begin)(const char *symbol), void (*end)(const struct called *row, const struct columns *is));
/* Writes all rows of this process; also called at exit. */
void truth_write(void);

/* The name behind a handle: what `kernel` should say of a launch of it. */
void truth_name(long handle, const char *kernel);
const char *truth_name_of(long handle);

static inline long now_nanos(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

#define UNSET(c) .c = NONE,
#define COLUMNS(...) ((struct columns){ NUMBERS(UNSET) __VA_ARGS__ })

/* Makes the call and writes its row. The columns are evaluated after the call. */
#define CALL(kind, symbol, call, ...)                                                                                  \
	({                                                                                                             \
		struct called *row_ = truth_begin(kind, symbol);                                                       \
		row_->begin_ns = now_nanos();                                                                          \
		int status_ = call;                                                                                    \
		long end_ = now_nanos();                                                                               \
		bool ok = status_ == 0;                                                                                \
		(void)ok;                                                                                              \
		truth_end(row_, end_, status_, COLUMNS(__VA_ARGS__));                                                  \
		status_;                                                                                               \
	})

#endif
