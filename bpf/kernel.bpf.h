/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The few kernel types the programs touch. CO-RE finds the real offsets at load time. */
#ifndef ZERNEL_KERNEL_BPF_H
#define ZERNEL_KERNEL_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#define CORE __attribute__((preserve_access_index))

struct signal_struct {
	struct {
		int counter;
	} live;
} CORE;

struct task_struct {
	int pid;
	int tgid;
	int exit_code;
	struct signal_struct *signal;
	char comm[16];
} CORE;

struct linux_binprm {
	const char *filename;
} CORE;

/* x86-64 user ABI, stable: not relocated. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8;
	unsigned long ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

#endif
