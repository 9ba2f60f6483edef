// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the recorded threads run: each CPU is looked at by a clock of its own. */
#include "stack.bpf.h"

EVENT(sample, "a thread of a recorded process was found running on a CPU (instant)")
{
	EVENT_HEAD;
	z_duration_ns period_ns DOC("time on a CPU that the sample stands for");
	STACK_FIELD;
};

const volatile __u16 name_on_cpu = 0;
const volatile __u64 sample_period_ns = 0;

SEC("perf_event")
int on_clock(void *context)
{
	struct counter *c = counter_of(name_on_cpu);
	__u64 now = bpf_ktime_get_ns(), stack;
	struct sample *e;

	if (!c || !is_target(bpf_get_current_task_btf()->tgid))
		return 0;
	count(&c->hits);
	stack = take_stack(now);
	e = bpf_ringbuf_reserve(&bulk, sizeof(*e), 0);
	if (!e) {
		count(&c->lost);
		return 0;
	}
	fill_head((struct head *)e, kind_sample, name_on_cpu, now, Z_NULL);
	e->period_ns = sample_period_ns;
	e->stack = stack;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
