// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Life of the recorded processes and their threads; children of a recorded process are recorded too. */
#include "loads.bpf.h"
#include "python.bpf.h"

EVENT(process, "something in the life of a process or thread (instant)")
{
	EVENT_HEAD;
	z_pid child_pid DOC("process that was created");
	z_tid child_tid DOC("thread that was created");
	STATUS_FIELD;
	__u32 __pad;
	z_text path[192] DOC("file the event is about");
};

/* Function ids of the event names. */
const volatile __u16 name_exec = 0;
const volatile __u16 name_fork = 0;
const volatile __u16 name_thread = 0;
const volatile __u16 name_exit = 0;
const volatile __u16 name_rename = 0;
const volatile __u8 follow_children = 1;

static __always_inline struct process *start(__u16 name)
{
	struct counter *c = counter_of(name);
	struct process *e;

	if (!c)
		return 0;
	count(&c->hits);
	e = bpf_ringbuf_reserve(&vital, sizeof(*e), 0);
	if (!e) {
		count(&c->lost);
		return 0;
	}
	fill_head((struct head *)e, kind_process, name, bpf_ktime_get_ns(), Z_NULL);
	e->child_pid = Z_NULL32;
	e->child_tid = Z_NULL32;
	e->status = Z_NULL32;
	e->path[0] = 0;
	return e;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = parent->tgid, child_tgid = child->tgid;
	int is_thread = tgid == child_tgid;
	struct process *e;

	if (!is_target(tgid))
		return 0;
	if (!is_thread && follow_children) {
		set_target(child_tgid, 1);
		note_code_change(child_tgid);
		inherit_python(tgid, child_tgid);
	}
	e = start(is_thread ? name_thread : name_fork);
	if (!e)
		return 0;
	if (!is_thread)
		e->child_pid = child_tgid;
	e->child_tid = child->pid;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(sched_process_exec, struct task_struct *task, int old_pid,
	     struct linux_binprm *binprm)
{
	int target = is_target(task->tgid);
	struct process *e;

	if (target || watch_everyone)
		tell_load(binprm->file, LOAD_PROGRAM);
	if (!target)
		return 0;
	note_code_change(task->tgid);
	forget_python(task->tgid);
	e = start(name_exec);
	if (!e)
		return 0;
	bpf_probe_read_kernel_str(e->path, sizeof(e->path), binprm->filename);
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Only the end of the last thread is the end of the process; its status is as a shell shows it. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(sched_process_exit, struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct process *e;
	int code;

	if (!is_target(tgid) || task->signal->live.counter > 0)
		return 0;
	set_target(tgid, 0);
	forget_python(tgid);
	e = start(name_exit);
	if (!e)
		return 0;
	code = task->exit_code;
	e->status = code & 0x7f ? 128 + (code & 0x7f) : (code >> 8) & 0xff;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *task, const char *name)
{
	struct process *e;

	if (!is_target(task->tgid))
		return 0;
	e = start(name_rename);
	if (!e)
		return 0;
	e->pid = task->tgid;
	e->tid = task->pid;
	bpf_probe_read_kernel_str(e->comm, sizeof(e->comm), name);
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
