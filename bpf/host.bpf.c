// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the kernel counts of the host, read from /proc and /sys by the recorder: no programs, only their schema. */
#include "zernel.bpf.h"

EVENT(host_sample, "a value of the host, of one of its parts or of a recorded process at ts_ns")
{
	EVENT_HEAD;
	z_number value DOC("what was measured");
	z_text unit[8] DOC("unit of value");
	z_text object[1] DOC("the cgroup or network link that the value is of");
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";
