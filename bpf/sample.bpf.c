// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the recorded threads run: each CPU is looked at by a clock of its own. */
#include "stack.bpf.h"

EVENT(sample, "a thread of a recorded process was found running on a CPU (instant)")
{
	EVENT_HEAD;
	z_duration_ns period_ns DOC("time on a CPU that the sample stands for");
	z_number kernel_entry DOC(
		"what had brought the thread into the kernel: number of a system call (x86-64), "
		"-1 a page fault, or what else interrupts code of its own; -2 what interrupts the "
		"kernel; -3 a probe of a function; NULL in code of its own");
	STACK_FIELD;
};

const volatile __u16 name_on_cpu = 0;
const volatile __u64 sample_period_ns = 0;

#define IN_FAULT -1
#define IN_INTERRUPT -2
#define IN_PROBE -3
#define RING 3 /* of the code segment: 0 is the kernel's */
#define STACK_BYTES 16384ULL

struct uprobe_task {
	void *active_uprobe;
} CORE;

struct task_struct___uprobes {
	struct uprobe_task *utask;
} CORE;

#define BREAKPOINT 0xcc
#define SYSCALL_1 0x0f
#define SYSCALL_2 0x05

/*
 * Whether a probe of a function brought the thread here, ours or another's. The thread is at a breakpoint or behind it, steps
 * the instruction that was there, or came back from the function by the kernel's own system call, of which the number is not
 * kept. Not seen is a part of what a probe of a return does.
 */
static __always_inline int is_in_probe(struct task_struct *task, struct pt_regs *user)
{
	struct task_struct___uprobes *t = (void *)task;
	__u8 code[3] = {}; /* up to where the thread goes on */

	if (bpf_core_field_exists(t->utask) && BPF_CORE_READ(t, utask, active_uprobe))
		return 1;
	if (bpf_probe_read_user(code, sizeof(code), (void *)(user->ip - 2)))
		return 0;
	return code[2] == BREAKPOINT || code[1] == BREAKPOINT ||
	       (code[0] == SYSCALL_1 && code[1] == SYSCALL_2);
}

/*
 * The kernel keeps a system call's number where it entered, and -1 where it entered in another way: mostly a page fault.
 * What an interrupt of the thread's own code puts off, as packets to receive, looks the same. In the kernel, interrupts run on a
 * stack of their own.
 */
static __always_inline __s64 entry_of(struct pt_regs *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(task);
	__s64 call = user->orig_ax;

	if (context->cs & RING)
		return Z_NULL;
	if (context->sp - (__u64)BPF_CORE_READ(task, stack) >= STACK_BYTES)
		return IN_INTERRUPT;
	if (call >= 0)
		return call;
	return is_in_probe(task, user) ? IN_PROBE : IN_FAULT;
}

SEC("perf_event")
int on_clock(struct pt_regs *context)
{
	struct counter *c = counter_of(name_on_cpu);
	__u64 now = bpf_ktime_get_ns(), stack;
	__s64 entry;
	struct sample *e;

	if (!c || !is_target(bpf_get_current_task_btf()->tgid))
		return 0;
	count(&c->hits);
	stack = take_stack(now);
	entry = entry_of(context);
	e = bpf_ringbuf_reserve(&bulk, sizeof(*e), 0);
	if (!e) {
		count(&c->lost);
		return 0;
	}
	fill_head((struct head *)e, kind_sample, name_on_cpu, now, Z_NULL);
	e->period_ns = sample_period_ns;
	e->kernel_entry = entry;
	e->stack = stack;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
