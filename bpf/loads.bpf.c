// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Libraries that processes load, where no other program watches their system calls. */
#include "loads.bpf.h"

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long result)
{
	watch_mmap(regs, result, is_target(bpf_get_current_pid_tgid() >> 32));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
