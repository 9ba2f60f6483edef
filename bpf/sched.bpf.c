// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* When the recorded threads are off their CPUs, and why. Other threads cost one look-up each switch. */
#include "thread.bpf.h"
#include "io.bpf.h"
#include "stack.bpf.h"

EVENT(sched, "a thread was off its CPU for at least the threshold")
{
	EVENT_HEAD;
	z_duration_ns runq_ns DOC("of this, ready to run but waiting for a CPU");
	z_text state[16] DOC(
		"why it was off its CPU: sleeping, blocked, io, preempted, stopped, started");
	z_tid waker_tid DOC(
		"thread that ended its sleep; NULL when an interrupt did, as a timer's");
	z_pid other_pid DOC(
		"process that had the CPU until this thread got it; NULL when none had");
	z_text other_comm[16] DOC("name of the thread that had the CPU until this one got it");
};

const volatile __u64 wait_min_ns = 50000;
const volatile __u16 name_off_cpu = 0;
const volatile __u16 name_page_fault = 0;
/* 0: spans are not wanted as events, only the time blocked on block I/O. */
const volatile __u8 record_spans = 1;

#define TASK_INTERRUPTIBLE 0x01
#define TASK_UNINTERRUPTIBLE 0x02
#define TASK_STOPPED 0x04
#define TASK_TRACED 0x08
#define TASK_NOLOAD 0x400	/* with UNINTERRUPTIBLE: idle, a sleep */
#define TASK_RTLOCK_WAIT 0x1000 /* a spinlock of PREEMPT_RT */
#define TASK_ENDED 0xb0		/* EXIT_DEAD, EXIT_ZOMBIE, TASK_DEAD */

#define SLEEPING LETTERS('s', 'l', 'e', 'e', 'p', 'i', 'n', 'g')
#define BLOCKED LETTERS('b', 'l', 'o', 'c', 'k', 'e', 'd', 0)
#define STOPPED LETTERS('s', 't', 'o', 'p', 'p', 'e', 'd', 0)
#define STARTED LETTERS('s', 't', 'a', 'r', 't', 'e', 'd', 0)
#define PREEMPTED_1 LETTERS('p', 'r', 'e', 'e', 'm', 'p', 't', 'e')
#define PREEMPTED_2 LETTERS('d', 0, 0, 0, 0, 0, 0, 0)

static __always_inline void set_state(struct thread *t, __u64 first, __u64 second)
{
	t->state[0] = first;
	t->state[1] = second;
}

/*
 * Who had the CPU that a thread waited for: the thread that left it to this one, or, where this one found
 * an idle CPU, the one that took its own. The idle thread is nobody.
 */
static __always_inline void tell_other(struct sched *e, struct thread *t,
				       struct task_struct *other)
{
	e->other_pid = Z_NULL32;
	*(__u64 *)e->other_comm = 0;
	*(__u64 *)(e->other_comm + 8) = 0;
	if (!other || !t->woken)
		return;
	if (other->pid) {
		e->other_pid = other->tgid;
		copy_comm(e->other_comm, other);
	} else if (t->state[0] == PREEMPTED_1 && t->taker) {
		e->other_pid = t->taker;
		*(__u64 *)e->other_comm = t->taker_comm[0];
		*(__u64 *)(e->other_comm + 8) = t->taker_comm[1];
		/* Or clang makes one load of this and of copy_comm, which the verifier refuses. */
		asm volatile("" ::: "memory");
	}
}

/* One span off the CPU, to `end`, when it got the CPU of `other`; Z_NULL if that was not seen. */
static __always_inline void send_span(struct task_struct *task, struct thread *t, __u64 end,
				      struct task_struct *other)
{
	struct counter *c = counter_of(name_off_cpu);
	struct sched *e;

	if (!c)
		return;
	count(&c->hits);
	if (end != Z_NULL && end - t->off < wait_min_ns) {
		count(&c->filtered);
		return;
	}
	e = bpf_ringbuf_reserve(&bulk, sizeof(*e), 0);
	if (!e) {
		count(&c->lost);
		return;
	}
	fill_head_of(task, (struct head *)e, kind_sched, name_off_cpu, t->off,
		     end == Z_NULL ? Z_NULL : end - t->off);
	e->runq_ns = end != Z_NULL && t->woken ? end - t->woken : Z_NULL;
	*(__u64 *)e->state = t->state[0];
	*(__u64 *)(e->state + 8) = t->state[1];
	/* A thread that was about to sleep can be woken while it is preempted. */
	e->waker_tid = t->waker && t->state[0] != PREEMPTED_1 ? t->waker : Z_NULL32;
	tell_other(e, t, other);
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

/*
 * A page fault has waited for block I/O to `end`; Z_NULL if nothing told when. It may have to wait again, which is
 * another event.
 */
static __always_inline void send_fault(struct task_struct *task, struct fault *fault, __u64 io_ns,
				       __u64 end)
{
	struct counter *c = counter_of(name_page_fault);
	struct io *e;

	if (!c)
		return;
	count(&c->hits);
	e = bpf_ringbuf_reserve(&bulk, sizeof(*e), 0);
	if (!e) {
		count(&c->lost);
		return;
	}
	fill_head_of(task, (struct head *)e, kind_io, name_page_fault, fault->start,
		     end == Z_NULL ? Z_NULL : end - fault->start);
	e->fd = Z_NULL32;
	e->status = 0;
	e->bytes = fault->miss_bytes;
	e->miss_bytes = fault->miss_bytes;
	e->io_ns = io_ns;
	e->path.file = Z_FILE_INODE | fault->device;
	e->path.id = fault->inode;
	e->stack = stack_min_ns && end - fault->start >= stack_min_ns ? fault->stack : 0;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

/* The thread has been off its CPU to `end`, as far as is known, and can run since `woken`. */
static __always_inline void end_wait(struct task_struct *task, struct thread *t, __u64 end)
{
	__u64 waited = (t->woken ? t->woken : end) - t->off;

	if (t->state[0] != BLOCKED_ON_IO)
		return;
	if (t->unsent.start) {
		send_fault(task, &t->unsent, waited, end);
	} else if (t->start) {
		t->io_ns += t->off > t->start ? waited : 0;
	} else if (t->fault.start && t->off > t->fault.start) {
		send_fault(task, &t->fault, waited, end);
		t->fault.start = end;
		t->fault.miss_bytes = 0;
	}
}

/* A thread that gives its CPU away though it could run is not told from one that was preempted. */
static __always_inline void leave(struct task_struct *task, unsigned int state,
				  struct task_struct *next)
{
	struct thread *t;
	__u64 now;

	if (!is_target(task->tgid))
		return;
	t = new_thread(task);
	if (!t)
		return;
	now = bpf_ktime_get_ns();
	/* Tracepoints have been seen to leave out a switch: then the end of the span before is not known. */
	if (t->off) {
		if (t->woken)
			end_wait(task, t, t->woken);
		else if (t->unsent.start)
			send_fault(task, &t->unsent, Z_NULL, Z_NULL);
		t->unsent.start = 0;
		if (record_spans)
			send_span(task, t, Z_NULL, 0);
		t->waker = 0;
	}
	t->off = state & TASK_ENDED ? 0 : now;
	t->woken = 0;
	if (state & TASK_INTERRUPTIBLE || state & TASK_NOLOAD) {
		set_state(t, SLEEPING, 0);
	} else if (state & (TASK_UNINTERRUPTIBLE | TASK_RTLOCK_WAIT)) {
		set_state(t, BPF_CORE_READ_BITFIELD(task, in_iowait) ? BLOCKED_ON_IO : BLOCKED, 0);
		/* Before the wait, as the thread that runs when it ends is another one. */
		if (stack_min_ns && t->fault.start && !t->start && t->state[0] == BLOCKED_ON_IO)
			t->fault.stack = take_stack(now);
	} else if (state & (TASK_STOPPED | TASK_TRACED)) {
		set_state(t, STOPPED, 0);
	} else {
		set_state(t, PREEMPTED_1, PREEMPTED_2);
		t->woken = now;
		t->taker = next->pid ? next->tgid : 0;
		copy_comm((char *)t->taker_comm, next);
	}
}

static __always_inline void arrive(struct task_struct *task, struct task_struct *before)
{
	struct thread *t = thread_of(task);
	__u64 now;

	if (!t || !t->off)
		return;
	now = bpf_ktime_get_ns();
	end_wait(task, t, now);
	if (record_spans)
		send_span(task, t, now, before);
	t->off = 0;
	t->waker = 0;
	t->unsent.start = 0;
}

#define STACK_SIZE 16384 /* at least, on x86-64 */

/*
 * Whether the current thread does what the kernel does now, and no interrupt does. The kernel's count of
 * interrupts is a variable whose address not every kernel tells, so this goes by the stack. Interrupts
 * have one of their own, except for those that came while the thread ran its program: its registers then
 * say that it is in no system call. Softirqs at the end of a system call are on the interrupts' stack too.
 */
static __always_inline int is_thread(struct task_struct *task)
{
	struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(task);
	__u64 depth = (__u64)user;

	if (!task->pid || (long)user->orig_ax < 0)
		return 0;
	/* r10 is the kernel's stack pointer as long as this program needs less than 64 bytes (6.13). */
	asm volatile("%0 -= r10" : "+r"(depth));
	return depth < STACK_SIZE;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, _Bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int state)
{
	leave(prev, preempt ? 0 : state, next);
	arrive(next, prev);
	return 0;
}

/* This runs where the wake-up comes from, sched_wakeup maybe on the CPU of the thread that is woken. */
SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	struct thread *t = thread_of(task);
	struct task_struct *waker;

	if (!t)
		return 0;
	waker = bpf_get_current_task_btf();
	t->waker = is_thread(waker) ? waker->pid : 0;
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *task)
{
	struct thread *t = thread_of(task);

	if (t && t->off && !t->woken)
		t->woken = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *task)
{
	struct thread *t;

	if (!is_target(task->tgid))
		return 0;
	t = new_thread(task);
	if (!t)
		return 0;
	set_state(t, STARTED, 0);
	t->off = bpf_ktime_get_ns();
	t->woken = t->off;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
