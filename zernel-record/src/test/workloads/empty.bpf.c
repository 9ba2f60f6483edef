// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The least a probe of entry and return can do: the baseline of the cost of ours. */
#include <linux/bpf.h>

#define SEC(name) __attribute__((section(name), used))

SEC("kprobe")
int function(void *regs)
{
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
