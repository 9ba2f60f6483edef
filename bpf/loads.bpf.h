/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that recorded processes map as code, so that their functions can be probed before they are called. The
 * recorder is told of each file until it says what it did about it, by the file's inode. A process that maps a library
 * which by its name is to be probed, and is not yet, can be stopped right there: it goes on when the recorder has
 * attached its probes.
 */
#ifndef ZERNEL_LOADS_BPF_H
#define ZERNEL_LOADS_BPF_H

#include "files.bpf.h"

#define LOADS_SIZE (1024 * 1024)
#define STEM_SIZE 32
#define MOST_STEMS 64

/* What became of a file; the recorder writes it. */
enum code_state {
	CODE_UNWANTED = 1, /* no probe means it */
	CODE_PROBED,	   /* probed before anybody had loaded it: to be told when somebody does */
	CODE_LOADED,	   /* probed, and it is known that it was loaded */
};

/* How a process was treated that mapped a file, and what the file is to it. Bits. */
enum load_flags {
	LOAD_HELD = 1,	  /* it was stopped */
	LOAD_PROGRAM = 2, /* the file is its program */
};

struct code_key {
	__u64 inode;
	__u32 device;
	__u32 __pad;
};

struct load {
	struct wire_file file; /* its head says who and when */
	__u32 how;
	__u32 __pad;
};

struct load *load_layout;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct code_key);
	__type(value, __u8);
} code SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, LOADS_SIZE);
} loads SEC(".maps");

/* How many loads found the ring full. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} loads_lost SEC(".maps");

static __always_inline void count_lost_load(void)
{
	__u32 first = 0;
	__u64 *lost = bpf_map_lookup_elem(&loads_lost, &first);

	if (lost)
		count(lost);
}

struct stem {
	__u8 length; /* 0: the end of the list */
	char text[STEM_SIZE - 1];
};

/* Beginnings of the names of libraries that are to be probed, up to ".so": "libnccl". */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MOST_STEMS);
	__type(key, __u32);
	__type(value, struct stem);
} stems SEC(".maps");

/* Whether processes are stopped, and whether also for a program that is new. */
const volatile __u8 hold = 0;
const volatile __u8 hold_programs = 0;
/* Whether also processes that are not recorded yet are watched: they will be if they load a probed library. */
const volatile __u8 watch_everyone = 0;

#define SIGCONT_NUMBER 18
#define SIGSTOP_NUMBER 19

struct file_name {
	char text[STEM_SIZE];
};

/*
 * "libnccl" begins "libnccl.so.2" and "libnccl-1a2b.so.2", not "libnccl_tuner.so". Not static, as tell_names and
 * has_wanted_name are not.
 */
__noinline int begins(struct file_name *name, struct stem *stem)
{
	__u32 i;

	if (!name || !stem)
		return 0;
	for (i = 0; i < STEM_SIZE - 1; i++) {
		if (i >= stem->length)
			break;
		if (name->text[i] != stem->text[i])
			return 0;
	}
	return name->text[i] == '.' || name->text[i] == '-';
}

__noinline int has_wanted_name(__u64 dentry)
{
	struct file_name name = {};
	struct stem *stem;

	bpf_probe_read_kernel_str(name.text, sizeof(name.text),
				  BPF_CORE_READ((struct dentry *)dentry, d_name.name));
	for (__u32 i = 0; i < MOST_STEMS; i++) {
		__u32 at = i;

		stem = bpf_map_lookup_elem(&stems, &at);
		if (!stem || !stem->length)
			break;
		if (begins(&name, stem))
			return 1;
	}
	return 0;
}

#define PGID 2 /* of enum pid_type */
#define SID 3

/* A shell with job control waits for such processes with WUNTRACED, and would take the stop for the user's. */
static __always_inline int is_job_of_shell(struct task_struct *task)
{
	struct signal_struct *own = task->signal, *above = task->real_parent->signal;

	return own->pids[SID] == above->pids[SID] && own->pids[PGID] != above->pids[PGID];
}

/*
 * A process that is traced, or that wants to know when it is continued, is left alone. So are children of init: if the
 * recorder dies while it holds them, nobody would find them.
 */
static __always_inline int may_be_held(struct task_struct *task)
{
	return hold && is_target(task->tgid) && !task->ptrace && task->real_parent->tgid != 1 &&
	       !is_job_of_shell(task) &&
	       (__u64)BPF_CORE_READ(task, sighand, action[SIGCONT_NUMBER - 1].sa.sa_handler) <= 1;
}

/* The current process maps a file as code. */
static __always_inline void tell_load(struct file *file, __u32 how)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct code_key key = {};
	struct inode *inode;
	struct load *load;
	__u64 dentry, mount;
	int wanted;
	__u8 *state;

	if (!file)
		return;
	inode = BPF_CORE_READ(file, f_inode);
	key.inode = BPF_CORE_READ(inode, i_ino);
	key.device = BPF_CORE_READ(inode, i_sb, s_dev);
	state = bpf_map_lookup_elem(&code, &key);
	if (state && *state != CODE_UNWANTED && is_target(task->tgid))
		note_code_change(task->tgid);
	if (state && *state == CODE_LOADED)
		return;
	dentry = (__u64)BPF_CORE_READ(file, f_path.dentry);
	mount = (__u64)BPF_CORE_READ(file, f_path.mnt);
	/* The number of a deleted file may have passed to another, which is told only by its name. */
	wanted = has_wanted_name(dentry);
	if (state && *state == CODE_UNWANTED && !wanted)
		return;
	load = bpf_ringbuf_reserve(&loads, sizeof(*load), 0);
	if (!load) {
		count_lost_load();
		return;
	}
	fill_head((struct head *)&load->file, KIND_FILE, 0, bpf_ktime_get_ns(), Z_NULL);
	load->file.inode = key.inode;
	load->file.device = key.device;
	load->file.mode = BPF_CORE_READ(inode, i_mode);
	load->file.form = FORM_CUT;
	load->file.length = 0;
	load->how = how;
	if (!state && (how & LOAD_PROGRAM ? hold_programs : wanted) && may_be_held(task) &&
	    !bpf_send_signal(SIGSTOP_NUMBER))
		load->how |= LOAD_HELD;
	tell_names(&load->file, dentry, mount);
	bpf_ringbuf_submit(load, 0);
}

#define MMAP 9
#define PROT_EXEC 4

/* To be called when any system call returns. */
static __always_inline void watch_mmap(struct pt_regs *regs, long result, int target)
{
	if (regs->orig_ax == MMAP && result > 0 && regs->dx & PROT_EXEC && (__s32)regs->r8 >= 0 &&
	    (target || watch_everyone))
		tell_load(file_of(regs->r8), 0);
}

#endif
