/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which processes run Python, and where its frames are. */
#ifndef ZERNEL_PYTHON_BPF_H
#define ZERNEL_PYTHON_BPF_H

#include "zernel.bpf.h"

#define NOT_THERE 0xff
#define NAMES_BYTES 40

/*
 * Where an interpreter keeps its frames, in bytes from the start of each struct. Steps that it has not are NOT_THERE.
 * The recorder tells it of each process that runs one.
 */
struct python {
	__u64 runtime;	 /* address of _PyRuntime */
	__u64 code_type; /* address of PyCode_Type: what is no code object is not taken for one */
	__u32 interpreters;
	__u32 next_interpreter;
	__u32 threads; /* of an interpreter: its list of thread states */
	__u32 next_thread;
	__u32 thread_id; /* of a thread state: what pthread_self() gives */
	__u32 frame;	 /* of a thread state: its frame, or what has it */
	__u8 frame_step; /* of that: the frame */
	__u8 frame_size;
	__u8 code;
	__u8 previous;
	__u8 instruction;
	__u8 instruction_size;
	__u8 owner;
	__u8 foreign; /* owners from here on are no Python frames */
	__u8 entry;   /* of a frame: not 0 where C called it */
	__u8 tags;    /* bits of the code pointer that are none of the address */
	__u8 type;
	__u8 code_size;
	__u8 file_name;
	__u8 function_name;
	__u8 line_table;
	__u8 names;	  /* the first of the three before, which lie within NAMES_BYTES */
	__u8 text_length; /* of a str: its characters */
	__u8 text_state;  /* of a str: 4 bytes with the bytes of a character */
	__u8 text_kind;	  /* the lowest of the three bits there that say so */
	__u8 text;	  /* of a str: where the characters begin, at the latest */
	__u8 bytes_size;  /* of bytes */
	__u8 bytes;
};

struct python *python_layout;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct python);
} pythons SEC(".maps");

/* A child has its parent's interpreter, at the same place. */
static __always_inline void inherit_python(__u32 parent, __u32 child)
{
	struct python *p = bpf_map_lookup_elem(&pythons, &parent);

	if (p)
		bpf_map_update_elem(&pythons, &child, p, BPF_ANY);
}

static __always_inline void forget_python(__u32 tgid)
{
	bpf_map_delete_elem(&pythons, &tgid);
}

#endif
