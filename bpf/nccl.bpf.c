// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Collectives and communicators of NCCL: only the schema, functions.bpf.c sends them. */
#include "zernel.bpf.h"

EVENT(nccl, "a collective, send or receive, or a group of them; dur_ns is the time to enqueue it")
{
	EVENT_HEAD;
	STATUS_FIELD;
	DEPTH_FIELD;
	BYTES_FIELD;
	COUNT_FIELD;
	z_text dtype[1] DOC("type of the elements");
	z_text op[1] DOC("reduction");
	z_number peer DOC("root of the collective or rank of the peer");
	z_addr communicator DOC("handle of the communicator in the process");
	z_number comm_id DOC("communicator, the same number in all its ranks");
	z_number seq DOC("number of the operation on its communicator, 0 for the first one seen");
	z_number rank DOC("rank in the communicator");
	z_count nranks DOC("ranks in the communicator");
	STREAM_FIELD;
	z_number grouped DOC("1 inside ncclGroupStart and ncclGroupEnd");
	STACK_FIELD;
};

EVENT(nccl_comm, "a communicator made, split, ended or aborted")
{
	EVENT_HEAD;
	STATUS_FIELD;
	DEPTH_FIELD;
	z_addr communicator DOC("handle of the communicator in the process");
	z_number comm_id DOC("communicator, the same number in all its ranks");
	z_number rank DOC("rank in the communicator");
	z_count nranks DOC("ranks in the communicator");
	z_addr parent DOC("handle of the communicator it was made from");
	z_number color DOC("which of the parts of the split communicator");
	STACK_FIELD;
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";
