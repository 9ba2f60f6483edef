// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads through io_uring, from submission to completion. */
#include "files.bpf.h"
#include "io.bpf.h"

struct io_cqe {
	__s32 res;
	__s32 fd;
} CORE;

struct io_kiocb {
	struct file *file;
	__u8 opcode;
	__u32 flags;
	struct io_cqe cqe;
} CORE;

#define OPERATIONS 64
#define FIXED_FILE 1 /* in flags: fd is an index of registered files */

/* Function ids by operation; 0: not recorded. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OPERATIONS);
	__type(key, __u32);
	__type(value, __u32);
} operations SEC(".maps");

/* The event is of the thread that submitted; another one may see it complete. */
struct request {
	__u64 start;
	__u32 function;
	__s32 fd;
	__u32 pid;
	__u32 tid;
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct request);
} requests SEC(".maps");

/* Another request is at the address of one whose completion was not told (IOSQE_CQE_SKIP_SUCCESS). */
static __always_inline int forget(__u64 key)
{
	if (bpf_map_lookup_elem(&requests, &key))
		bpf_map_delete_elem(&requests, &key);
	return 0;
}

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(io_uring_submit_req, struct io_kiocb *io)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u64 key = (__u64)io;
	struct request r = {};
	struct counter *c;
	__u32 *function;
	__u32 opcode;

	if (!is_target(id >> 32))
		return forget(key);
	opcode = io->opcode;
	function = bpf_map_lookup_elem(&operations, &opcode);
	c = function && *function ? counter_of(*function) : 0;
	if (!c)
		return forget(key);
	r.start = bpf_ktime_get_ns();
	r.function = *function;
	r.fd = BPF_CORE_READ(io, flags) & FIXED_FILE ? Z_NULL32 : BPF_CORE_READ(io, cqe.fd);
	r.pid = id >> 32;
	r.tid = (__u32)id;
	bpf_get_current_comm(r.comm, sizeof(r.comm));
	if (bpf_map_update_elem(&requests, &key, &r, BPF_ANY)) {
		count(&c->hits);
		count(&c->lost);
	}
	return 0;
}

SEC("tp_btf/io_uring_complete")
int BPF_PROG(io_uring_complete, void *ring, void *io)
{
	struct io_kiocb *request = io;
	__u64 key = (__u64)io;
	struct request *r = bpf_map_lookup_elem(&requests, &key);
	struct counter *c = r ? counter_of(r->function) : 0;
	__u32 *function;
	__u32 opcode;
	z_file path;
	struct io *e;
	__s32 result;

	if (!c)
		return 0;
	/* The kernel makes requests of its own, which were not submitted. */
	opcode = BPF_CORE_READ(request, opcode);
	function = bpf_map_lookup_elem(&operations, &opcode);
	if (!function || *function != r->function)
		return forget(key);
	count(&c->hits);
	tell_file(&path, BPF_CORE_READ(request, file));
	result = BPF_CORE_READ(request, cqe.res);
	e = bpf_ringbuf_reserve(&bulk, sizeof(*e), 0);
	if (e) {
		e->ts_ns = r->start;
		e->dur_ns = bpf_ktime_get_ns() - r->start;
		e->pid = r->pid;
		e->tid = r->tid;
		e->cpu = bpf_get_smp_processor_id();
		e->__kind = kind_io;
		e->__function = r->function;
		__builtin_memcpy(e->comm, r->comm, sizeof(e->comm));
		e->fd = r->fd;
		e->status = result < 0 ? result : 0;
		e->bytes = result < 0 ? Z_NULL : result;
		e->miss_bytes = Z_NULL;
		e->io_ns = Z_NULL;
		e->path = path;
		e->stack = 0;
		bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	} else {
		count(&c->lost);
	}
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
