/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack of the current thread: Python's frames through the interpreter's own structures, and native ones by frame
 * pointers, of which code built without them shows the innermost only. An event carries the hash of what was found; the
 * frames themselves go to the recorder in a record of their own when that hash is seen for the first time. So a stack that
 * comes again costs its walk and nothing else.
 */
#ifndef ZERNEL_STACK_BPF_H
#define ZERNEL_STACK_BPF_H

#include "python.bpf.h"

/* The kinds of records that tell the frames of a stack, and what a code object says; no events. */
#define KIND_STACK 0xfffe
#define KIND_CODE 0xfffd

#define PYTHON_FRAMES 128
#define NATIVE_FRAMES 32

#define FRAME_BYTES 112 /* of a frame and of a code object, as far as they are read */
#define CODE_BYTES 176

#define ENTERED_FROM_C 1

struct python_frame {
	__u64 code;
	__u64 instruction;
	__u32 identity; /* of the code object at this moment: it can be freed, and another one be there */
	__u32 flags;
};

#define PYTHON_DEEPER 1 /* there are frames beyond those that are told */
#define PYTHON_UNREAD 2 /* a frame could not be read: those beyond it are missing */
#define PYTHON_THREAD 4 /* the thread has a Python state */

struct wire_stack {
	EVENT_HEAD;
	__u64 stack;
	__u32 python_frames;
	__u32 native_frames;
	__u32 flags;
	__u32 __unused;
	__u64 runtime; /* of the interpreter */
	__u64 native
		[NATIVE_FRAMES]; /* the first is where the thread is, the others return addresses */
	struct python_frame python[PYTHON_FRAMES];
};

struct wire_stack *wire_stack_layout;

/* A part of the process's memory, as far as it was read. */
#define PART(bytes)                                                                               \
	struct {                                                                                  \
		__u64 address;                                                                    \
		__u32 size;                                                                       \
		char data[bytes];                                                                 \
	}

/*
 * A code object and what it points to, as they were when a frame was first seen to run it: some milliseconds later the object
 * may be gone, and its process too.
 */
struct wire_code {
	EVENT_HEAD;
	__u64 runtime; /* of the interpreter */
	PART(CODE_BYTES) code;
	PART(508) file_name;
	PART(252) function_name;
	PART(1020) line_table;
};

struct wire_code *wire_code_layout;

const volatile __u64 stack_min_ns =
	0; /* a blocked thread's stack is taken from so long on; 0: never */
const volatile __u64 stacks_per_second = 1000; /* of each CPU */

struct stack_key {
	__u64 stack;
	__u64 process;
};

/* Stacks that the recorder was told of. It remembers more than this map does. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct stack_key);
	__type(value, __u8);
} known_stacks SEC(".maps");

struct python_code_key {
	__u64 code;
	__u32 identity;
	__u32 process;
};

/* Code objects that the recorder was told of. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct python_code_key);
	__type(value, __u8);
} known_code SEC(".maps");

/* The Python state of a thread, 0 when it had none at `looked`. */
struct python_thread {
	__u64 state;
	__u64 looked;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct python_thread);
} python_threads SEC(".maps");

/* What became of the stacks of this CPU. */
struct stack_counts {
	__u64 taken;
	__u64 over_budget;
	__u64 lost;   /* their frames found the ring full */
	__u64 unread; /* their Python frames could not be read, or not all */
	__u64 deeper;
	__u64 second; /* and how many in it */
	__u64 in_second;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_counts);
} stack_counts SEC(".maps");

#define RETRY_NS 10000000 /* how long a thread is believed to have no Python state */
#define MOST_INTERPRETERS 16
#define MOST_THREADS 4096
#define MOST_STEPS (2 * PYTHON_FRAMES) /* frames of Python and those between them that are none */

static __always_inline __u64 read_word(__u64 at)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)at);
	return value;
}

/* A search along a list. The loops are bpf_loop's, whose body the verifier looks at once. */
struct search {
	struct python *python;
	__u64 at;
	__u64 id;
};

static long next_interpreter(__u32 i, struct search *s)
{
	__u64 next = read_word(s->at + s->python->next_interpreter);

	if (!next)
		return 1;
	s->at = next;
	return 0;
}

static long next_python_thread(__u32 i, struct search *s)
{
	if (!s->at || read_word(s->at + s->python->thread_id) == s->id)
		return 1;
	s->at = read_word(s->at + s->python->next_thread);
	return 0;
}

/* The Python state of a thread: the main interpreter is the first that was made, which is the last of their list. */
static __noinline __u64 find_python_thread(struct python *p, __u64 id)
{
	struct search s = { p, read_word(p->runtime + p->interpreters), id };

	if (!s.at)
		return 0;
	bpf_loop(MOST_INTERPRETERS, next_interpreter, &s, 0);
	s.at = read_word(s.at + p->threads);
	bpf_loop(MOST_THREADS, next_python_thread, &s, 0);
	return s.at && read_word(s.at + p->thread_id) == id ? s.at : 0;
}

/* Its frame that runs; 0 when the thread has none. */
static __always_inline __u64 python_frame_of(struct python *p, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 id = BPF_CORE_READ(task, thread.fsbase);
	struct python_thread *t =
		bpf_task_storage_get(&python_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u64 frame;

	if (!t)
		return 0;
	if (!t->state && t->looked && now - t->looked < RETRY_NS)
		return 0;
	if (!t->state || read_word(t->state + p->thread_id) != id) {
		t->state = find_python_thread(p, id);
		t->looked = now;
		if (!t->state)
			return 0;
	}
	frame = read_word(t->state + p->frame);
	if (frame && p->frame_step != NOT_THERE)
		frame = read_word(frame + p->frame_step);
	return frame;
}

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

/* A word of something that was read, wherever in it. The verifier wants to see the bound. */
static __always_inline __u64 word_at(const char *bytes, __u64 offset, __u64 limit)
{
	return offset <= limit - 8 ? *(__u64 *)(bytes + (offset & ~7ULL)) : 0;
}

static __always_inline __u32 half_at(const char *bytes, __u64 offset, __u64 limit)
{
	return offset <= limit - 4 ? *(__u32 *)(bytes + (offset & ~3ULL)) : 0;
}

static __always_inline __u8 byte_at(const char *bytes, __u64 offset, __u64 limit)
{
	return offset < limit ? *(__u8 *)(bytes + offset) : 0;
}

/* A walk from the innermost frame outwards. Without a record it only makes the hash. */
struct walk {
	struct python *python;
	struct wire_stack *record;
	__u64 at; /* the frame, or of a native one the frame pointer */
	__u64 sp;
	__u64 hash;
	__u32 frames;
	__u32 flags;
	__u32 tells_code;
	__u64 frame[FRAME_BYTES / 8];
};

/*
 * Tells code objects apart; 0 where it cannot be read. What lies far from the processor costs most here, so no more is read
 * of each than has to be.
 */
static __noinline __u64 identity_of(struct python *p, __u64 code)
{
	char bytes[NAMES_BYTES];
	__u32 first = p->names;

	if (bpf_probe_read_user(bytes, sizeof(bytes), (void *)(code + first)))
		return 0;
	return mix(mix(mix(0, word_at(bytes, p->file_name - first, NAMES_BYTES)),
		       word_at(bytes, p->function_name - first, NAMES_BYTES)),
		   word_at(bytes, p->line_table - first, NAMES_BYTES)) |
	       1;
}

static __always_inline int is_code(struct python *p, __u64 code)
{
	return read_word(code + p->type) == p->code_type;
}

/* Reads a part, and no more of it than there is room for. */
#define READ_PART(part, from, length)                                                             \
	do {                                                                                      \
		__u64 n = length;                                                                 \
		(part).address = from;                                                            \
		(part).size = 0;                                                                  \
		if (n > sizeof((part).data))                                                      \
			n = sizeof((part).data);                                                  \
		if (!bpf_probe_read_user((part).data, n, (void *)(part).address))                 \
			(part).size = n;                                                          \
	} while (0)

/* How long a str is, with what is before its characters. */
static __noinline __u64 text_size(struct python *p, __u64 text)
{
	__u32 state = read_word(text + p->text_state);

	return p->text +
	       (read_word(text + p->text_length) + 1) * (state >> (p->text_kind & 31) & 7);
}

/* Tells the recorder what a code object says, once. */
static __noinline void tell_code(struct python *p, __u64 code, __u32 identity)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct python_code_key key = { code, identity, task->tgid };
	struct wire_code *r;
	__u64 at;
	__u8 yes = 1;

	if (bpf_map_lookup_elem(&known_code, &key))
		return;
	r = bpf_ringbuf_reserve(&vital, sizeof(*r), 0);
	if (!r)
		return;
	fill_head((struct head *)r, KIND_CODE, 0, 0, 0);
	r->runtime = p->runtime;
	READ_PART(r->code, code, p->code_size);
	at = read_word(code + p->file_name);
	READ_PART(r->file_name, at, text_size(p, at));
	at = read_word(code + p->function_name);
	READ_PART(r->function_name, at, text_size(p, at));
	at = read_word(code + p->line_table);
	READ_PART(r->line_table, at, p->bytes + read_word(at + p->bytes_size));
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	bpf_map_update_elem(&known_code, &key, &yes, BPF_ANY);
}

static long walk_python(__u32 i, struct walk *w)
{
	struct python *p = w->python;
	struct wire_stack *r = w->record;
	__u64 code, instruction, identity;
	__u32 n = w->frames, size = p->frame_size;

	if (!w->at || size > FRAME_BYTES)
		return 1;
	if (bpf_probe_read_user(w->frame, size, (void *)w->at)) {
		w->flags |= PYTHON_UNREAD;
		return 1;
	}
	w->at = word_at((char *)w->frame, p->previous, FRAME_BYTES);
	if (p->owner != NOT_THERE &&
	    byte_at((char *)w->frame, p->owner, FRAME_BYTES) >= p->foreign) {
		w->hash = mix(w->hash, 1);
		if (r && n)
			r->python[(n - 1) & (PYTHON_FRAMES - 1)].flags |= ENTERED_FROM_C;
		return 0;
	}
	if (n >= PYTHON_FRAMES) {
		w->flags |= PYTHON_DEEPER;
		return 1;
	}
	code = word_at((char *)w->frame, p->code, FRAME_BYTES) & ~(__u64)p->tags;
	identity = identity_of(p, code);
	/* A stack that is known was checked when it was told. */
	if (!identity || ((r || w->tells_code) && !is_code(p, code))) {
		w->flags |= PYTHON_UNREAD;
		return 1;
	}
	instruction = p->instruction_size == 8
			      ? word_at((char *)w->frame, p->instruction, FRAME_BYTES)
			      : half_at((char *)w->frame, p->instruction, FRAME_BYTES);
	w->hash = mix(mix(w->hash, code ^ identity << 16), instruction);
	if (r) {
		struct python_frame *f = &r->python[n & (PYTHON_FRAMES - 1)];

		f->code = code;
		f->instruction = instruction;
		f->identity = identity;
		f->flags =
			p->entry != NOT_THERE && byte_at((char *)w->frame, p->entry, FRAME_BYTES)
				? ENTERED_FROM_C
				: 0;
	}
	if (w->tells_code)
		tell_code(p, code, identity);
	w->frames = n + 1;
	return 0;
}

#define MOST_STACK (8ULL << 20)

/* Frame pointers lead outwards on the stack; what does not look so ends the walk. */
static long walk_native(__u32 i, struct walk *w)
{
	__u64 at[2]; /* the caller's frame pointer, the return address */

	if (w->at < w->sp || w->at - w->sp > MOST_STACK || w->at & 7)
		return 1;
	if (bpf_probe_read_user(at, sizeof(at), (void *)w->at) || at[1] < 4096)
		return 1;
	w->hash = mix(w->hash, at[1]);
	if (w->record)
		w->record->native[w->frames & (NATIVE_FRAMES - 1)] = at[1];
	w->frames++;
	w->sp = w->at + 1;
	w->at = at[0];
	return 0;
}

/* Where a thread is. */
struct place {
	__u64 ip;
	__u64 sp;
	__u64 bp;
	__u64 frame; /* Python's, or 0 */
};

/* Walks both ways, into a record if there is one, or tells what the code is called. */
static __noinline __u64 walk_all(struct python *p, struct place *place, struct wire_stack *r,
				 __u32 tells_code, __u32 *flags)
{
	struct walk w = {
		.python = p,
		.record = r,
		.at = place->bp,
		.sp = place->sp,
		.hash = mix(0, place->ip),
		.frames = 1,
		.tells_code = tells_code,
	};

	bpf_loop(NATIVE_FRAMES - 1, walk_native, &w, 0);
	if (r) {
		r->native[0] = place->ip;
		r->native_frames = w.frames;
	}
	w.frames = 0;
	w.at = place->frame;
	if (p && w.at)
		bpf_loop(MOST_STEPS, walk_python, &w, 0);
	if (r) {
		r->python_frames = w.frames;
		r->flags = w.flags | (place->frame ? PYTHON_THREAD : 0);
	}
	*flags = w.flags;
	return w.hash | 1;
}

static __always_inline int is_within_budget(struct stack_counts *c, __u64 now)
{
	__u64 second = now >> 30;

	if (c->second != second) {
		c->second = second;
		c->in_second = 0;
	}
	return ++c->in_second <= stacks_per_second;
}

/*
 * The stack of the current thread as its user code left it, or 0. Not static: the verifier then looks at it once, not on
 * every way to each of its calls.
 */
__noinline __u64 take_stack(__u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(task);
	__u32 zero = 0, tgid = task->tgid, flags = 0, told = 0;
	struct stack_counts *c = bpf_map_lookup_elem(&stack_counts, &zero);
	struct python *p = bpf_map_lookup_elem(&pythons, &tgid);
	struct place place = { user->ip, user->sp, user->bp, 0 };
	struct stack_key key = {};
	struct wire_stack *r;
	__u8 yes = 1;

	if (!c)
		return 0;
	if (!is_within_budget(c, now)) {
		count(&c->over_budget);
		return 0;
	}
	count(&c->taken);
	if (p)
		place.frame = python_frame_of(p, now);
	key.stack = walk_all(p, &place, 0, 0, &flags);
	key.process = tgid;
	if (flags & PYTHON_UNREAD)
		count(&c->unread);
	if (flags & PYTHON_DEEPER)
		count(&c->deeper);
	if (bpf_map_lookup_elem(&known_stacks, &key))
		return key.stack;
	/* What code is called is told before who calls it. */
	walk_all(p, &place, 0, 1, &told);
	if (told & ~flags & PYTHON_UNREAD)
		count(&c->unread);
	r = bpf_ringbuf_reserve(&vital, sizeof(*r), 0);
	if (!r) {
		count(&c->lost);
		return 0;
	}
	fill_head((struct head *)r, KIND_STACK, 0, now, 0);
	r->stack = key.stack;
	r->runtime = p ? p->runtime : 0;
	walk_all(p, &place, r, 0, &flags);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	bpf_map_update_elem(&known_stacks, &key, &yes, BPF_ANY);
	return key.stack;
}

/* The stack of a thread that was blocked for so long, if that is long enough. */
static __always_inline __u64 stack_after(__u64 blocked, __u64 now)
{
	return stack_min_ns && blocked >= stack_min_ns ? take_stack(now) : 0;
}

#endif
