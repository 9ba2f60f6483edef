// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What PyTorch and Python do, seen through uprobes and tracepoints: only the schema, functions.bpf.c sends them. */
#include "zernel.bpf.h"

EVENT(region, "a record_function region of PyTorch, from enter to exit")
{
	EVENT_HEAD;
};

EVENT(backward, "a call of the autograd engine: one backward pass")
{
	EVENT_HEAD;
};

EVENT(dist_wait, "a thread blocked on work of torch.distributed")
{
	EVENT_HEAD;
	DEPTH_FIELD;
	STACK_FIELD;
};

EVENT(torch_op, "an operator of PyTorch as the dispatcher is called")
{
	EVENT_HEAD;
};

EVENT(torch_alloc, "memory handed out by the caching allocator of PyTorch for the GPU (instant)")
{
	EVENT_HEAD;
	BYTES_FIELD;
	ADDRESS_FIELD;
	DEVICE_FIELD;
	STREAM_FIELD;
	COUNT_FIELD;
};

EVENT(torch_free, "memory given back to the caching allocator of PyTorch for the GPU (instant)")
{
	EVENT_HEAD;
	BYTES_FIELD;
	ADDRESS_FIELD;
	DEVICE_FIELD;
	COUNT_FIELD;
};

EVENT(py_call, "a call into or within the Python interpreter")
{
	EVENT_HEAD;
	z_text role[8] DOC("part of a step that it is, as --probe says: step, data_wait, ...");
	STACK_FIELD;
};

EVENT(gc, "a run of Python's garbage collector of 100 us or longer; count is the objects it found "
	  "to be "
	  "garbage")
{
	EVENT_HEAD;
	z_number generation DOC("oldest generation of objects that was looked through: 2 is all");
	COUNT_FIELD;
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";
