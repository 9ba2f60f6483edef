// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events that the recorder itself writes: no programs, only their schema. */
#include "zernel.bpf.h"

EVENT(lost, "events of a kind that could not be stored between ts_ns and ts_ns + dur_ns")
{
	EVENT_HEAD;
	COUNT_FIELD;
};

EVENT(mark, "an instant that a person named with 'zernel-record mark'; name is the text")
{
	EVENT_HEAD;
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";
