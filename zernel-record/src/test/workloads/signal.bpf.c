// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A kind that does not ship: what the recipe for a new one makes. */
#include "zernel.bpf.h"

EVENT(signal, "a signal was delivered to a thread (instant)")
{
	EVENT_HEAD;
	z_number signal DOC("number of the signal");
};

const volatile __u16 name_delivered = 0;

SEC("tp_btf/signal_deliver")
int BPF_PROG(signal_deliver, int number)
{
	struct counter *c = counter_of(name_delivered);
	struct signal *e;

	if (!c || !is_target(bpf_get_current_pid_tgid() >> 32))
		return 0;
	count(&c->hits);
	e = bpf_ringbuf_reserve(&bulk, sizeof(*e), 0);
	if (!e) {
		count(&c->lost);
		return 0;
	}
	fill_head((struct head *)e, kind_signal, name_delivered, bpf_ktime_get_ns(), Z_NULL);
	e->signal = number;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
