/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The vocabulary of events. Each kind is one struct declared with EVENT(); its BTF is the schema: the
 * recorder reads field names, types, offsets and documentation from it, and nothing is declared twice.
 *
 * A field means the same thing in every kind. Its typedef gives type and unit. A field that has no value
 * in one event holds Z_NULL (8 bytes) or Z_NULL32 (4 bytes) and is NULL in the file. Names that begin
 * with "__" belong to the wire, not to the schema.
 */
#ifndef ZERNEL_BPF_H
#define ZERNEL_BPF_H

#include "kernel.bpf.h"

typedef __u64 z_time_ns; /* CLOCK_MONOTONIC; the recorder adds the offset to the epoch */
typedef __u64 z_duration_ns;
typedef __u64 z_bytes;
typedef __u64 z_addr;
typedef __u64 z_count;
typedef __s64 z_number; /* an index, a rank, a level, ... */
typedef __u32 z_pid;
typedef __u32 z_tid;
typedef __u32 z_cpu;
typedef __s32 z_fd;
typedef __s32 z_status;
typedef char z_text;
typedef __u64 z_stack; /* hash of a stack that the recorder was told of (stack.bpf.h); 0 is NULL */

/*
 * A text that the recorder knows by this key, so that it need not travel with each event: the path of an
 * open file, told once (files.bpf.h), or one of the constants below. All zero is NULL.
 */
typedef struct {
	__u64 file; /* address of the struct file, or one of the following */
	__u64 id;   /* tells it from a later file at the same address */
} z_file;

#define Z_FILE_CONSTANT 0	  /* id is one of these: */
#define Z_FUTEX 1		  /* "futex" */
#define Z_FILE_INODE (1ULL << 61) /* and the device; id is the inode number */
#define Z_FILE_ASKED (1ULL << 62) /* and the thread; id is the time */

#define Z_NULL 0x8000000000000000ULL
#define Z_NULL32 ((__s32)0x80000000)

#define DOC(text) __attribute__((btf_decl_tag("doc:" text)))

#define EVENT_HEAD                                                                                \
	z_time_ns ts_ns DOC("start of the event since the epoch");                                \
	z_duration_ns dur_ns DOC("how long it took; NULL for an instant or an unseen end");       \
	z_pid pid DOC("process");                                                                 \
	z_tid tid DOC("thread");                                                                  \
	z_cpu cpu DOC("CPU at the end of the event");                                             \
	__u16 __kind;                                                                             \
	__u16 __function;                                                                         \
	z_text comm[16] DOC("name of the thread")

/* Fields that several kinds have. */
#define STATUS_FIELD                                                                              \
	z_status status DOC("return code: 0 is success; -errno, exit code, CUresult, "            \
			    "cudaError_t, ncclResult_t")
#define DEPTH_FIELD                                                                               \
	z_number depth DOC(                                                                       \
		"calls of the same kind around this one: 0 is the outermost, count only these")
#define STREAM_FIELD                                                                              \
	z_addr stream DOC("handle of a CUDA stream, or its id where the library says it so")
#define COUNT_FIELD z_count count DOC("how many")
#define ADDRESS_FIELD z_addr addr DOC("address in the process")
#define STACK_FIELD                                                                               \
	z_stack stack DOC("calls of the thread, the outermost first: function (file:line); ...")
#define BYTES_FIELD z_bytes bytes DOC("bytes moved or asked for")
#define DEVICE_FIELD                                                                              \
	z_number device DOC("GPU index as the process counts them, in samples as NVML does")

/*
 * Declares kind `tag`. The recorder finds the struct through the pointer and writes the kind's number
 * into the constant before loading.
 */
#define EVENT(tag, text)                                                                          \
	struct tag;                                                                               \
	const volatile __u16 kind_##tag = 0;                                                      \
	struct tag *event_##tag DOC(text);                                                        \
	struct tag

/* Any record begins like this. */
struct head {
	EVENT_HEAD;
};

/*
 * Exact accounting, per function id. hits = filtered + sampled_out + lost + records sent, or, where calls
 * are sent whole, + returns + calls that have not returned.
 */
struct counter {
	__u64 hits;
	__u64 filtered;
	__u64 lost;
	__u64 returns; /* of calls that are sent whole */
	__u64 returns_lost;
	__u64 sampled_out;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024 * 1024);
} bulk SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 32 * 1024 * 1024);
} vital SEC(".maps");

#define MOST_PIDS (4 << 20) /* PID_MAX_LIMIT of 64-bit kernels */
#define PIDS_PER_BLOCK 4096
#define BLOCKS (MOST_PIDS / PIDS_PER_BLOCK)

struct pid_block {
	__u8 has[PIDS_PER_BLOCK];
};

/*
 * Processes being recorded, by tgid: 1 is yes. Every probe asks, so this is a table and no hash, which
 * takes 25 ns. The last block says which of the others were ever used. The recorder maps it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, BLOCKS + 1);
	__type(key, __u32);
	__type(value, struct pid_block);
} targets SEC(".maps");

/*
 * Recorded processes that have started, or have mapped a probed file; the recorder looks at their libraries and removes
 * them.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u8);
} code_changed SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counter);
} counters SEC(".maps");

static __always_inline int is_target(__u32 tgid)
{
	__u32 block = tgid / PIDS_PER_BLOCK;
	struct pid_block *pids = bpf_map_lookup_elem(&targets, &block);

	return pids && pids->has[tgid % PIDS_PER_BLOCK];
}

static __always_inline void set_target(__u32 tgid, __u8 yes)
{
	__u32 block = tgid / PIDS_PER_BLOCK, last = BLOCKS;
	struct pid_block *pids = bpf_map_lookup_elem(&targets, &block);
	struct pid_block *used = bpf_map_lookup_elem(&targets, &last);

	if (!pids || !used)
		return;
	pids->has[tgid % PIDS_PER_BLOCK] = yes;
	used->has[block % BLOCKS] = 1;
}

static __always_inline void note_code_change(__u32 tgid)
{
	__u8 yes = 1;

	bpf_map_update_elem(&code_changed, &tgid, &yes, BPF_ANY);
}

static __always_inline struct counter *counter_of(__u32 function)
{
	return bpf_map_lookup_elem(&counters, &function);
}

/* Uprobe programs can be preempted, so a plain ++ on a per-CPU slot could lose a count. */
static __always_inline void count(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

/* Two loads. The helper for this takes 20 ns. */
static __always_inline void copy_comm(char *comm, struct task_struct *task)
{
	*(__u64 *)comm = *(__u64 *)task->comm;
	*(__u64 *)(comm + 8) = *(__u64 *)(task->comm + 8);
}

static __always_inline void fill_head_of(struct task_struct *task, struct head *h, __u16 kind,
					 __u16 function, __u64 start, __u64 duration)
{
	h->ts_ns = start;
	h->dur_ns = duration;
	h->pid = task->tgid;
	h->tid = task->pid;
	h->cpu = bpf_get_smp_processor_id();
	h->__kind = kind;
	h->__function = function;
	copy_comm(h->comm, task);
}

static __always_inline void fill_head(struct head *h, __u16 kind, __u16 function, __u64 start,
				      __u64 duration)
{
	fill_head_of(bpf_get_current_task_btf(), h, kind, function, start, duration);
}

#endif
