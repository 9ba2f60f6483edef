/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The event of a read or write, however it is made: system call, io_uring or page fault. */
#ifndef ZERNEL_IO_BPF_H
#define ZERNEL_IO_BPF_H

#include "zernel.bpf.h"

EVENT(io, "a read, write, flush or renaming of a file, or such of a pipe or socket; dur_ns is the "
	  "time "
	  "blocked in it")
{
	EVENT_HEAD;
	z_fd fd DOC("file descriptor");
	z_status status DOC("return code: 0 is success; -errno, exit code, CUresult, cudaError_t, "
			    "ncclResult_t");
	z_bytes bytes DOC("bytes moved or asked for");
	z_bytes miss_bytes DOC("bytes added to the page cache meanwhile, also by readahead");
	z_duration_ns io_ns DOC("blocked on block I/O meanwhile");
	z_file path DOC("file the event is about");
	STACK_FIELD;
};

#endif
