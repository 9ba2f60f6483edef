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
	z_number depth DOC(
		"calls of the same kind around this one: 0 is the outermost, count only these");
};

EVENT(torch_op, "an operator of PyTorch as the dispatcher is called")
{
	EVENT_HEAD;
};

EVENT(torch_alloc, "memory handed out by the caching allocator of PyTorch for the GPU (instant)")
{
	EVENT_HEAD;
	z_bytes bytes DOC("bytes moved or asked for");
	z_addr addr DOC("address in the process");
	z_number device DOC("GPU index as the process counts them");
	z_addr stream DOC("handle of a CUDA stream, or its id where the library says it so");
	z_count count DOC("how many");
};

EVENT(torch_free, "memory given back to the caching allocator of PyTorch for the GPU (instant)")
{
	EVENT_HEAD;
	z_bytes bytes DOC("bytes moved or asked for");
	z_addr addr DOC("address in the process");
	z_number device DOC("GPU index as the process counts them");
	z_count count DOC("how many");
};

EVENT(py_call, "a call into or within the Python interpreter")
{
	EVENT_HEAD;
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";
