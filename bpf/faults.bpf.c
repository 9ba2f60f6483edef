// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Page faults of the recorded threads on mapped files (6.12 and newer). */
#include "thread.bpf.h"

/*
 * The kernel tells when such a fault begins and not when it ends. If it has to wait for block I/O, the
 * scheduler's programs see that, and the end of the wait is the end of the event (sched.bpf.c).
 */
SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(mm_filemap_fault, struct address_space *mapping, unsigned long index)
{
	struct thread *t;

	if (!is_target(bpf_get_current_pid_tgid() >> 32))
		return 0;
	t = new_thread(bpf_get_current_task_btf());
	if (!t || t->start)
		return 0;
	end_fault(t);
	t->fault.start = bpf_ktime_get_ns();
	t->fault.inode = mapping->host->i_ino;
	t->fault.device = mapping->host->i_sb->s_dev;
	t->fault.miss_bytes = 0;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
