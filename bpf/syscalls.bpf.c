// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads and blocking waits of the recorded processes: one program pair on all system calls. */
#include "zernel.bpf.h"

EVENT(io, "a read-family system call; dur_ns is the time blocked in it")
{
	EVENT_HEAD;
	z_fd fd DOC("file descriptor");
	z_status status DOC("return code: 0 is success; -errno, exit code, CUresult, cudaError_t, "
			    "ncclResult_t");
	z_bytes bytes DOC("bytes moved or asked for");
};

EVENT(wait, "a system call that blocked for at least the threshold")
{
	EVENT_HEAD;
	z_fd fd DOC("file descriptor");
	z_status status DOC("return code: 0 is success; -errno, exit code, CUresult, cudaError_t, "
			    "ncclResult_t");
	z_addr addr DOC("address in the process");
};

/* What the first argument of a wait is. */
enum waits_on {
	WAITS_ON_NOTHING,
	WAITS_ON_ADDRESS, /* futex word */
	WAITS_ON_FD,	  /* epoll descriptor */
	WAITS_ON_POLLFDS, /* array of struct pollfd: the first descriptor counts */
};

struct system_call {
	__u16 kind; /* 0: not recorded */
	__u16 function;
	__u32 waits_on;
};

struct system_call *system_call_layout;

#define SYSTEM_CALLS 512

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SYSTEM_CALLS);
	__type(key, __u32);
	__type(value, struct system_call);
} system_calls SEC(".maps");

struct open_call {
	__u64 start;
	__u64 number;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct open_call);
} open_calls SEC(".maps");

const volatile __u64 wait_min_ns = 50000;

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long number)
{
	__u32 nr = number;
	struct system_call *s;
	struct open_call *open;

	if (!is_target(bpf_get_current_pid_tgid() >> 32))
		return 0;
	s = bpf_map_lookup_elem(&system_calls, &nr);
	if (!s || !s->kind)
		return 0;
	open = bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), 0,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!open)
		return 0;
	open->number = nr;
	open->start = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void send_io(struct pt_regs *regs, struct system_call *s, struct counter *c,
				    struct open_call *open, __u64 now, long result)
{
	struct io *e = bpf_ringbuf_reserve(&bulk, sizeof(*e), 0);

	if (!e) {
		count(&c->lost);
		return;
	}
	fill_head((struct head *)e, s->kind, s->function, open->start, now - open->start);
	e->fd = regs->di;
	e->status = result < 0 ? result : 0;
	e->bytes = result < 0 ? Z_NULL : result;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	count(&c->sent);
}

static __always_inline void send_wait(struct pt_regs *regs, struct system_call *s,
				      struct counter *c, struct open_call *open, __u64 now,
				      long result)
{
	struct wait *e = bpf_ringbuf_reserve(&bulk, sizeof(*e), 0);

	if (!e) {
		count(&c->lost);
		return;
	}
	fill_head((struct head *)e, s->kind, s->function, open->start, now - open->start);
	e->status = result < 0 ? result : 0;
	e->fd = Z_NULL32;
	e->addr = Z_NULL;
	if (s->waits_on == WAITS_ON_ADDRESS)
		e->addr = regs->di;
	else if (s->waits_on == WAITS_ON_FD)
		e->fd = regs->di;
	else if (s->waits_on == WAITS_ON_POLLFDS && regs->si &&
		 bpf_probe_read_user(&e->fd, sizeof(e->fd), (void *)regs->di))
		e->fd = Z_NULL32;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	count(&c->sent);
}

#define MMAP 9
#define PROT_EXEC 4

/* A library or program file was mapped executable. */
static __always_inline int maps_code(struct pt_regs *regs, long result)
{
	return regs->orig_ax == MMAP && result > 0 && regs->dx & PROT_EXEC && (__s32)regs->r8 >= 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long result)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct open_call *open;
	struct system_call *s;
	struct counter *c;
	__u64 now;
	__u32 nr;

	if (!is_target(tgid))
		return 0;
	if (maps_code(regs, result))
		note_code_change(tgid);
	open = bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), 0, 0);
	if (!open || !open->start)
		return 0;
	nr = open->number;
	s = bpf_map_lookup_elem(&system_calls, &nr);
	c = s ? counter_of(s->function) : 0;
	if (c) {
		now = bpf_ktime_get_ns();
		count(&c->hits);
		if (s->kind == kind_io)
			send_io(regs, s, c, open, now, result);
		else if (now - open->start >= wait_min_ns)
			send_wait(regs, s, c, open, now, result);
		else
			count(&c->filtered);
	}
	open->start = 0;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
