// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the recorded threads bring into the page cache, by reads and by page faults on mapped files. */
#include "thread.bpf.h"

#define PAGE_SIZE 4096ULL

enum pageflags {
	PG_head = 6, /* the kernel's own number is filled in at load time */
};

/* The number of pages has had two names. */
struct folio {
	unsigned int _nr_pages;
} CORE;

struct folio___6_13 {
	unsigned int _folio_nr_pages;
} CORE;

static __always_inline __u64 size_of(struct folio *folio)
{
	unsigned long flags = 0;
	__u64 pages = 1;

	/* Whatever their type is called, the flags come first. */
	bpf_probe_read_kernel(&flags, sizeof(flags), folio);
	if (!(flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1))
		return PAGE_SIZE;
	if (bpf_core_field_exists(folio->_nr_pages))
		pages = BPF_CORE_READ(folio, _nr_pages);
	else
		pages = BPF_CORE_READ((struct folio___6_13 *)folio, _folio_nr_pages);
	return pages * PAGE_SIZE;
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(mm_filemap_add_to_page_cache, struct folio *folio)
{
	struct thread *t = thread_of(bpf_get_current_task_btf());

	if (t && t->start)
		t->miss_bytes += size_of(folio);
	else if (t && t->fault.start)
		t->fault.miss_bytes += size_of(folio);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
