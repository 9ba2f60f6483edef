/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of a recorded thread at this moment. Shared by the objects that watch threads. */
#ifndef ZERNEL_THREAD_BPF_H
#define ZERNEL_THREAD_BPF_H

#include "zernel.bpf.h"

/* A page fault on a file that may have to wait for block I/O. */
struct fault {
	__u64 start; /* 0: none since the last system call */
	__u64 inode;
	__u64 device;
	__u64 stack;	  /* where it was when it waited for block I/O last */
	__u64 miss_bytes; /* added to the page cache meanwhile */
};

struct thread {
	__u64 start; /* of the recorded system call it is in; 0: it is in none */
	__u64 number;
	__u64 io_ns;	  /* blocked on block I/O in that call */
	__u64 miss_bytes; /* added to the page cache in that call */
	struct fault fault;
	/* Has waited, and nothing told that the wait was over before the thread went on. */
	struct fault unsent;
	__u64 off;	     /* since when it has been off its CPU; 0: it is running */
	__u64 woken;	     /* since when it has been waiting for a CPU; 0: it is not */
	__u64 state[2];	     /* why it left its CPU, as a text */
	__u64 waker;	     /* thread that woke it last; 0: none, or an interrupt did */
	__u64 taker;	     /* process that took the CPU from it while it could run; 0: none */
	__u64 taker_comm[2]; /* its name */
};

/* A text of up to 8 letters. */
#define LETTERS(a, b, c, d, e, f, g, h)                                                           \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 |  \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)

#define BLOCKED_ON_IO LETTERS('i', 'o', 0, 0, 0, 0, 0, 0)

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* NULL for a thread of which nothing has been seen. */
static __always_inline struct thread *thread_of(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, 0, 0);
}

static __always_inline struct thread *new_thread(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Also when the scheduler did not announce that the thread runs again. */
static __always_inline __u64 blocked_on_io(struct thread *t)
{
	if (t->off > t->start && t->woken && t->state[0] == BLOCKED_ON_IO)
		return t->io_ns + t->woken - t->off;
	return t->io_ns;
}

/*
 * The thread does something else from now on. If a wait of its fault is over and the scheduler did not announce that,
 * its programs send the event later (sched.bpf.c).
 */
static __always_inline void end_fault(struct thread *t)
{
	if (t->fault.start && t->off > t->fault.start && t->state[0] == BLOCKED_ON_IO)
		t->unsent = t->fault;
	t->fault.start = 0;
}

#endif
