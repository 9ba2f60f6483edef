// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads, writes, opens and blocking waits of the recorded processes: one program pair on all system calls. */
#include "thread.bpf.h"
#include "io.bpf.h"
#include "loads.bpf.h"
#include "stack.bpf.h"

EVENT(io_open, "opening a file")
{
	EVENT_HEAD;
	z_fd fd DOC("file descriptor");
	STATUS_FIELD;
	z_number writable DOC("1 when the file was opened to be written, 0 when only to be read");
	z_file path DOC("file the event is about");
};

EVENT(wait, "a system call that blocked for at least the threshold")
{
	EVENT_HEAD;
	z_fd fd DOC("file descriptor");
	STATUS_FIELD;
	ADDRESS_FIELD;
	z_file object DOC("what was waited for: futex, or the file behind fd");
	STACK_FIELD;
};

/* Which argument says what the call is about. */
enum about {
	ABOUT_NOTHING,
	ABOUT_FD,      /* descriptor: the first */
	ABOUT_POLLFDS, /* array of struct pollfd: the first that is ready, or the first */
	ABOUT_FUTEX,   /* futex word; only operations that wait count */
	ABOUT_FUTEXES, /* array of struct futex_waitv */
	ABOUT_PATH,    /* path: the first */
	ABOUT_PATH_AT, /* path: the second */
	ABOUT_INPUT,   /* descriptor that is read: the first */
	ABOUT_OUTPUT, /* descriptor that is written: the first; small writes only if they take long */
	ABOUT_SENT_TO,	  /* the same, the third */
	ABOUT_SYNCED,	  /* descriptor: the first; no bytes are moved */
	ABOUT_LOCK,	  /* descriptor: the first; only commands of fcntl that wait count */
	ABOUT_RENAMED,	  /* new path: the second */
	ABOUT_RENAMED_AT, /* new path: the fourth */
};

struct system_call {
	__u16 kind; /* 0: not recorded */
	__u16 function;
	__u32 about;
};

struct system_call *system_call_layout;

#define SYSTEM_CALLS 512

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SYSTEM_CALLS);
	__type(key, __u32);
	__type(value, struct system_call);
} system_calls SEC(".maps");

#define FMODE_WRITE 2 /* include/linux/fs.h */
#define FILE_TYPE 0170000
#define REGULAR 0100000
#define BLOCK_DEVICE 0060000

/* Writes to files of fewer bytes are recorded only if they take as long as a wait. */
#define SMALL_WRITE 4096

const volatile __u64 wait_min_ns = 50000;
/* Whether anything fills these fields of struct thread. */
const volatile __u8 sees_io_wait = 0;
const volatile __u8 sees_page_cache = 0;
const volatile __u8 sees_page_faults = 0;

/* Bit n: futex operation n waits. WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2. */
#define FUTEX_WAITS (1 << 0 | 1 << 6 | 1 << 9 | 1 << 11 | 1 << 13)
#define FUTEX_OPERATION 0x7f

#define F_SETLKW 7
#define F_OFD_SETLKW 38

/* Whether this system call can be recorded: futex and fcntl do other things too. */
static __always_inline int is_recorded(struct pt_regs *regs, struct system_call *s)
{
	__u32 operation = regs->si;

	if (s->about == ABOUT_LOCK)
		return operation == F_SETLKW || operation == F_OFD_SETLKW;
	operation &= FUTEX_OPERATION;
	return s->about != ABOUT_FUTEX || (operation <= 13 && FUTEX_WAITS >> operation & 1);
}

/*
 * Whether this is a futex call that only wakes. A pool of threads for operators makes hundreds of thousands of these
 * a second: neither of the programs does more for them than to see that.
 */
static __always_inline int only_wakes(struct pt_regs *regs, struct system_call *s)
{
	return s && s->about == ABOUT_FUTEX && !is_recorded(regs, s);
}

static __always_inline void end_fault_of_current(void)
{
	struct thread *t;

	if (!sees_page_faults)
		return;
	t = thread_of(bpf_get_current_task_btf());
	if (t)
		end_fault(t);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long number)
{
	__u32 nr = number;
	struct system_call *s = bpf_map_lookup_elem(&system_calls, &nr);
	struct thread *t;

	if (only_wakes(regs, s) || !is_target(bpf_get_current_pid_tgid() >> 32))
		return 0;
	if (!s || !s->kind || !is_recorded(regs, s)) {
		end_fault_of_current();
		return 0;
	}
	t = new_thread(bpf_get_current_task_btf());
	if (!t)
		return 0;
	end_fault(t);
	t->number = nr;
	t->io_ns = 0;
	t->miss_bytes = 0;
	t->start = bpf_ktime_get_ns();
	return 0;
}

#define EINTR 4
#define ERESTARTSYS                                                                               \
	512 /* to ERESTART_RESTARTBLOCK: a signal came; programs see EINTR, or nothing */
#define ERESTART_RESTARTBLOCK 516

static __always_inline __s32 status_of(long result)
{
	if (result >= 0)
		return 0;
	return result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK ? -EINTR : result;
}

static __always_inline int is_write(struct system_call *s)
{
	return s->about == ABOUT_OUTPUT || s->about == ABOUT_SENT_TO;
}

static __always_inline int is_storage(struct file *file)
{
	__u16 type = file ? BPF_CORE_READ(file, f_inode, i_mode) & FILE_TYPE : 0;

	return type == REGULAR || type == BLOCK_DEVICE;
}

/* Lines of a log, and what goes to pipes and sockets: the more of these there are, the less they say. */
static __always_inline int is_small_write(struct system_call *s, struct file *file,
					  struct thread *t, __u64 now, long result)
{
	if (!is_write(s) || now - t->start >= wait_min_ns || blocked_on_io(t))
		return 0;
	return !is_storage(file) || (result >= 0 && result < SMALL_WRITE);
}

static __always_inline __u64 bytes_of(struct system_call *s, long result)
{
	return result >= 0 && (is_write(s) || s->about == ABOUT_INPUT) ? result : Z_NULL;
}

static __always_inline void send_io(struct pt_regs *regs, struct system_call *s, struct counter *c,
				    struct thread *t, __u64 now, long result)
{
	struct file *file = 0;
	__s32 fd = Z_NULL32;
	z_file path;
	__u64 stack;
	struct io *e;

	if (s->about == ABOUT_SENT_TO)
		fd = regs->dx;
	else if (s->about == ABOUT_INPUT || s->about == ABOUT_OUTPUT || s->about == ABOUT_SYNCED)
		fd = regs->di;
	if (fd != Z_NULL32)
		file = file_of(fd);
	if (is_small_write(s, file, t, now, result)) {
		count(&c->filtered);
		return;
	}
	if (s->about == ABOUT_RENAMED || s->about == ABOUT_RENAMED_AT)
		tell_asked(&path, (void *)(s->about == ABOUT_RENAMED ? regs->si : regs->r10));
	else
		tell_file(&path, file);
	stack = stack_after(now - t->start, now);
	e = bpf_ringbuf_reserve(&bulk, sizeof(*e), 0);
	if (!e) {
		count(&c->lost);
		return;
	}
	fill_head((struct head *)e, s->kind, s->function, t->start, now - t->start);
	e->fd = fd;
	e->status = status_of(result);
	e->bytes = bytes_of(s, result);
	e->miss_bytes = sees_page_cache && s->about == ABOUT_INPUT ? t->miss_bytes : Z_NULL;
	e->io_ns = sees_io_wait ? blocked_on_io(t) : Z_NULL;
	e->path = path;
	e->stack = stack;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

/* What the kernel made of the flags of open, openat, openat2 and creat. */
static __always_inline __s64 is_writable(struct file *file)
{
	return file ? !!(BPF_CORE_READ(file, f_mode) & FMODE_WRITE) : (__s64)Z_NULL;
}

/* A path is read on return: by then the kernel has brought it into memory. */
static __always_inline void send_open(struct pt_regs *regs, struct system_call *s,
				      struct counter *c, struct thread *t, __u64 now, long result)
{
	struct file *file = result < 0 ? 0 : file_of(result);
	z_file path;
	struct io_open *e;

	if (result >= 0)
		tell_file_anew(&path, file);
	else
		tell_asked(&path, (void *)(s->about == ABOUT_PATH ? regs->di : regs->si));
	e = bpf_ringbuf_reserve(&bulk, sizeof(*e), 0);
	if (!e) {
		count(&c->lost);
		return;
	}
	fill_head((struct head *)e, s->kind, s->function, t->start, now - t->start);
	e->fd = result < 0 ? Z_NULL32 : result;
	e->status = status_of(result);
	e->writable = is_writable(file);
	e->path = path;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

struct pollfd {
	__s32 fd;
	__s16 events;
	__s16 revents;
};

#define POLLFDS 16

static __always_inline __s32 polled_fd(struct pt_regs *regs)
{
	struct pollfd polled;
	__s32 first = Z_NULL32;

	for (__u64 i = 0; i < POLLFDS && i < regs->si; i++) {
		if (bpf_probe_read_user(&polled, sizeof(polled), (struct pollfd *)regs->di + i))
			break;
		if (i == 0)
			first = polled.fd;
		if (polled.revents)
			return polled.fd;
	}
	return first;
}

static __always_inline void send_wait(struct pt_regs *regs, struct system_call *s,
				      struct counter *c, struct thread *t, __u64 now, long result)
{
	z_file object = {};
	__s32 fd = Z_NULL32;
	__u64 stack;
	struct wait *e;

	if (s->about == ABOUT_FD || s->about == ABOUT_LOCK)
		fd = regs->di;
	else if (s->about == ABOUT_POLLFDS)
		fd = polled_fd(regs);
	else if (s->about == ABOUT_FUTEX || s->about == ABOUT_FUTEXES)
		object.id = Z_FUTEX;
	if (fd >= 0)
		tell_file(&object, file_of(fd));
	stack = stack_after(now - t->start, now);
	e = bpf_ringbuf_reserve(&bulk, sizeof(*e), 0);
	if (!e) {
		count(&c->lost);
		return;
	}
	fill_head((struct head *)e, s->kind, s->function, t->start, now - t->start);
	e->status = status_of(result);
	e->fd = fd;
	e->addr = s->about == ABOUT_FUTEX || s->about == ABOUT_FUTEXES ? regs->di : Z_NULL;
	e->object = object;
	e->stack = stack;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long result)
{
	__u32 nr = regs->orig_ax;
	struct system_call *s = bpf_map_lookup_elem(&system_calls, &nr);
	struct counter *c;
	struct thread *t;
	__u64 now;
	int target;

	if (only_wakes(regs, s))
		return 0;
	target = is_target(bpf_get_current_pid_tgid() >> 32);
	watch_mmap(regs, result, target);
	if (!target)
		return 0;
	t = thread_of(bpf_get_current_task_btf());
	if (!t || !t->start)
		return 0;
	nr = t->number;
	s = bpf_map_lookup_elem(&system_calls, &nr);
	c = s ? counter_of(s->function) : 0;
	if (c) {
		now = bpf_ktime_get_ns();
		count(&c->hits);
		if (s->kind == kind_io)
			send_io(regs, s, c, t, now, result);
		else if (s->kind == kind_io_open)
			send_open(regs, s, c, t, now, result);
		else if (now - t->start >= wait_min_ns)
			send_wait(regs, s, c, t, now, result);
		else
			count(&c->filtered);
	}
	t->start = 0;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
