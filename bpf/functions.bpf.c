// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls of user-space functions, for every kind that is seen through a uprobe. What to read of a call is
 * data: a row of `functions`, one capture per column. A call is sent as an entry and a return record; the
 * recorder joins them by (thread, function, stack pointer), so no program keeps state and recursion,
 * longjmp and fork need no special case here. A call of which nothing is read on entry is sent whole, at
 * its return, where the backend has a session cookie to keep the start time in.
 *
 * A function that may throw is probed where it is left instead of on its return (call_exit).
 *
 * Built once per backend: -DBACKEND_SESSION, -DBACKEND_SESSION_CTX (kernels whose session kfuncs take
 * the context) or -DBACKEND_MULTI (entry and return programs of their own, also for perf uprobes).
 */
#include "stack.bpf.h"

EVENT(call, "a call of a function the user named")
{
	EVENT_HEAD;
	z_text role[8] DOC("part of a step that it is, as --probe says: step, data_wait, ...");
	STACK_FIELD;
};

#define SLOTS 12
#define SMALL_SLOTS 2
#define MEDIUM_SLOTS 4
#define REGISTERS 6 /* that arguments are in */
#define RETURN_SLOTS 4
#define TEXT_SIZE 192

/* Where a value comes from. */
enum source {
	SOURCE_NONE,
	SOURCE_ARGUMENT, /* integer argument 1.. of the System V ABI */
	SOURCE_RETURN,	 /* the return value */
	SOURCE_OUT,	 /* argument kept from entry, for reading what it points to on return */
	SOURCE_STACK,	 /* the address of a stack argument: a struct passed by value */
	SOURCE_REGISTER, /* a register at a tracepoint, plus index * scale when scale is not 0 */
	SOURCE_CONSTANT, /* offset[0] itself */
	SOURCE_CALLERS,	 /* the stack, of a call that took long or of which that is not known */
};

/* How a text is held. */
enum text_form {
	TEXT_C,	    /* pointer to zero-terminated bytes */
	TEXT_STD,   /* pointer to a std::string: data pointer, length */
	TEXT_BYTES, /* zero-terminated bytes at the place itself */
};

#define OFFSETS 3
#define WIDTH_HASH 128 /* not an integer: the hash of this many bytes */

struct capture {
	__u8 source;
	__u8 argument; /* 1 and up; for SOURCE_REGISTER a place in struct seen */
	__u8 width;    /* bytes of the last read; for a text its text_form */
	__u8 derefs;   /* 0: offset[0] is added to the value */
	__u8 index;    /* register, as argument */
	__u8 scale;
	__u16 tags; /* bits to clear in pointers that are followed */
	__s32 offset[OFFSETS];
};

enum function_flags {
	SEND_ENTER = 1,
	SEND_RETURN = 2,
	HAS_TEXT = 4,
	VITAL = 8,
	KEEP_ARGUMENT = 16, /* the session cookie keeps keep_argument instead of the start time */
	IN_WINDOWS = 32,    /* sample may change while a call is open */
	PLAIN_ARGUMENTS = 64, /* the captures are arguments 1, 2, ... as they are */
	TIMED = 128,	      /* the start time is kept although the entry is sent */
};

struct function {
	__u16 kind;
	__u8 flags;
	__u8 captures;
	__u8 return_captures;
	__u8 keep_argument;
	__u16 ends;   /* of one in so many calls the end is recorded too, 0: of all */
	__u32 sample; /* every n-th call is recorded, 0: none, all are counted */
	struct capture capture[SLOTS];
	struct capture on_return[RETURN_SLOTS];
	struct capture text;
};

/*
 * Wire records; the recorder finds their layout by these names. Every byte of a record costs the call
 * time, so a return has only what its entry cannot know, and small calls have small records.
 */
#define RETURNED 0x8000 /* the other bits of __call: bit n, capture n could not be read */
#define UNENDED 0x4000	/* no return record will follow */

#define CALL_HEAD                                                                                 \
	__u64 time; /* of a return record the end, else the start */                              \
	__u64 sp;   /* of a whole call the end */                                                 \
	z_pid pid;                                                                                \
	z_tid tid;                                                                                \
	z_cpu cpu;                                                                                \
	__u16 __call;                                                                             \
	__u16 __function

struct wire_head {
	CALL_HEAD;
};

struct wire_small {
	CALL_HEAD;
	char comm[16];
	__u64 slot[SMALL_SLOTS];
};

struct wire_medium {
	CALL_HEAD;
	char comm[16];
	__u64 slot[MEDIUM_SLOTS];
};

struct wire_large {
	CALL_HEAD;
	char comm[16];
	__u64 slot[SLOTS];
};

struct wire_text {
	CALL_HEAD;
	char comm[16];
	__u64 slot[SLOTS];
	__u64 text_length;
	char text[TEXT_SIZE];
};

/* A call whose entry was not sent. */
struct wire_whole {
	CALL_HEAD;
	char comm[16];
	__u64 slot[RETURN_SLOTS];
};

struct wire_return {
	CALL_HEAD;
	__u64 slot[RETURN_SLOTS];
};

struct wire_text *wire_text_layout;
struct wire_return *wire_return_layout;
struct function *function_layout;
struct capture *capture_layout;

const volatile __u8 everyone = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct function);
} functions SEC(".maps");

/*
 * A call as seen at its entry or return. The registers are copied once: picking one through a computed
 * context pointer is refused by the verifier ("dereference of modified ctx ptr", 6.18).
 */
struct seen {
	__u64 argument
		[16]; /* 1 to 6 are at 0 to 5; at a tracepoint the rest are the other registers */
	__u64 sp;
	__u64 result;
	__u64 kept;
	__u64 stack; /* of its caller, if that is wanted */
};

static __always_inline void see(struct seen *s, struct pt_regs *regs, __u64 kept)
{
	s->argument[0] = regs->di;
	s->argument[1] = regs->si;
	s->argument[2] = regs->dx;
	s->argument[3] = regs->cx;
	s->argument[4] = regs->r8;
	s->argument[5] = regs->r9;
	s->sp = regs->sp;
	s->result = regs->ax;
	s->kept = kept;
	s->stack = 0;
}

static __always_inline void see_all(struct seen *s, struct pt_regs *regs)
{
	see(s, regs, 0);
	s->argument[6] = regs->ax;
	s->argument[7] = regs->bx;
	s->argument[8] = regs->bp;
	s->argument[9] = regs->sp;
	s->argument[10] = regs->r10;
	s->argument[11] = regs->r11;
	s->argument[12] = regs->r12;
	s->argument[13] = regs->r13;
	s->argument[14] = regs->r14;
	s->argument[15] = regs->r15;
}

static __always_inline __u64 reg(struct seen *s, __u32 i)
{
	/* clang 14 drops a plain mask as redundant, and the verifier then sees no bound. */
	asm volatile("%0 &= 15" : "+r"(i));
	return s->argument[i];
}

static __always_inline __u64 stack_argument(struct seen *s, __u32 n)
{
	return s->sp + 8 * ((__u64)n - 6);
}

static __always_inline __u64 argument(struct seen *s, __u32 n)
{
	__u64 value = 0;

	if (n - 1 < 6)
		return reg(s, n - 1);
	bpf_probe_read_user(&value, sizeof(value), (void *)stack_argument(s, n));
	return value;
}

static __always_inline __u64 base(struct seen *s, const struct capture *c)
{
	switch (c->source) {
	case SOURCE_RETURN:
		return s->result;
	case SOURCE_OUT:
		return s->kept;
	case SOURCE_STACK:
		return stack_argument(s, c->argument);
	case SOURCE_REGISTER:
		return reg(s, c->argument) + (c->scale ? reg(s, c->index) * c->scale : 0);
	case SOURCE_CONSTANT:
		return (__s64)c->offset[0];
	case SOURCE_CALLERS:
		return s->stack;
	default:
		return argument(s, c->argument);
	}
}

/* Follows the first `count` offsets, each to a pointer. */
static __always_inline long follow(const struct capture *c, __u32 count, __u64 *place)
{
	long bad = 0;

#pragma unroll
	for (__u32 i = 0; i < OFFSETS; i++) {
		__u64 next = 0;

		if (i >= count)
			break;
		bad |= bpf_probe_read_user(&next, sizeof(next), (void *)(*place + c->offset[i]));
		*place = next & ~(__u64)c->tags;
	}
	return bad;
}

static __always_inline __s64 last_offset(const struct capture *c)
{
	__u32 i = c->derefs - 1;

	return i < OFFSETS ? c->offset[i] : 0;
}

/* Sixteen words, mixed one after the other as FNV-1a does bytes. */
static __noinline __u64 hash_bytes(__u64 at)
{
	__u64 word[WIDTH_HASH / 8];
	__u64 hash = 0xcbf29ce484222325ULL;

	if (bpf_probe_read_user(word, sizeof(word), (void *)at))
		return 0;
	for (int i = 0; i < WIDTH_HASH / 8; i++)
		hash = (hash ^ word[i]) * 0x100000001b3ULL;
	return hash;
}

/* Reads one value; 0 when it could be read. */
static __always_inline long read_capture(struct seen *s, const struct capture *c, __u64 *value)
{
	__u64 v = base(s, c);
	__u64 last = 0;
	__u32 width = c->width;
	long bad = 0;

	if (c->source == SOURCE_CONSTANT) {
		*value = v;
		return 0;
	}
	if (!c->derefs) {
		v += c->offset[0];
	} else {
		bad = follow(c, c->derefs - 1, &v);
		v += last_offset(c);
		if (width == WIDTH_HASH) {
			*value = hash_bytes(v);
			return bad || !*value;
		}
		if (width > 8)
			width = 8;
		bad |= bpf_probe_read_user(&last, width, (void *)v);
		v = last;
	}
	*value = v;
	return bad;
}

/* A C string lies behind the pointer at the last offset; a std::string and bytes at that place itself. */
static __always_inline __u32 read_text(struct seen *s, const struct capture *c, char *text)
{
	__u64 at = base(s, c);
	long length;

	if (c->width == TEXT_C) {
		follow(c, c->derefs, &at);
	} else if (c->derefs) {
		follow(c, c->derefs - 1, &at);
		at += last_offset(c);
	}
	if (c->width == TEXT_STD) {
		__u64 std[2] = {};
		__u32 size;

		if (bpf_probe_read_user(std, sizeof(std), (void *)at))
			return 0;
		size = std[1] < TEXT_SIZE ? std[1] : TEXT_SIZE;
		if (bpf_probe_read_user(text, size, (void *)std[0]))
			return 0;
		return size;
	}
	length = bpf_probe_read_user_str(text, TEXT_SIZE, (void *)at);
	return length > 0 ? length - 1 : 0;
}

static __always_inline void *reserve(const struct function *f, __u64 size)
{
	if (f->flags & VITAL)
		return bpf_ringbuf_reserve(&vital, size, 0);
	return bpf_ringbuf_reserve(&bulk, size, 0);
}

/* Nothing wakes the recorder: it drains by time. A wake-up would cost more than the probe. */
static __always_inline void submit(void *record)
{
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

static __always_inline void fill_wire(struct wire_head *r, struct task_struct *task, __u16 id,
				      __u64 time, __u64 sp, __u16 call)
{
	r->time = time;
	r->sp = sp;
	r->pid = task->tgid;
	r->tid = task->pid;
	r->cpu = bpf_get_smp_processor_id();
	r->__call = call;
	r->__function = id;
}

/* Fills as many slots as there are captures; the others hold anything. */
static __always_inline void fill_slots(struct wire_head *r, struct seen *s,
				       const struct capture *captures, __u32 count, __u64 *slot,
				       __u32 slots)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < slots; i++) {
		__u64 value = 0;

		if (i >= count)
			break;
		if (read_capture(s, &captures[i], &value))
			r->__call |= 1 << i;
		slot[i] = value;
	}
}

/* The same where they are the first arguments, one after the other: those on the stack are read at once. */
static __always_inline void copy_arguments(struct wire_head *r, struct seen *s, __u64 *slot)
{
#pragma unroll
	for (int i = 0; i < REGISTERS; i++)
		slot[i] = s->argument[i];
	if (bpf_probe_read_user(slot + REGISTERS, (SLOTS - REGISTERS) * sizeof(*slot),
				(void *)(s->sp + 8)))
		r->__call |= ((1 << SLOTS) - 1) & ~((1 << REGISTERS) - 1);
}

/* Sends an entry; 0 when the ring is full. */
#define SEND_ENTRY(type, fill)                                                                    \
	do {                                                                                      \
		struct type *r = reserve(f, sizeof(*r));                                          \
		if (!r)                                                                           \
			return 0;                                                                 \
		fill_wire((struct wire_head *)r, task, id, now, s->sp, call);                     \
		copy_comm(r->comm, task);                                                         \
		fill;                                                                             \
		submit(r);                                                                        \
	} while (0)

#define CAPTURES(slots)                                                                           \
	fill_slots((struct wire_head *)r, s, f->capture, f->captures, r->slot, slots)

/* This and the next two are no static functions: so the kernel verifies them once in each program. */
__noinline int send_entry(struct seen *s, const struct function *f, __u16 id, __u64 now,
			  __u16 call)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!s || !f)
		return 0;
	if (f->flags & HAS_TEXT)
		SEND_ENTRY(wire_text, CAPTURES(SLOTS);
			   r->text_length = read_text(s, &f->text, r->text));
	else if (f->flags & PLAIN_ARGUMENTS)
		SEND_ENTRY(wire_large, copy_arguments((struct wire_head *)r, s, r->slot));
	else if (f->captures > MEDIUM_SLOTS)
		SEND_ENTRY(wire_large, CAPTURES(SLOTS));
	else if (f->captures > SMALL_SLOTS)
		SEND_ENTRY(wire_medium, CAPTURES(MEDIUM_SLOTS));
	else
		SEND_ENTRY(wire_small, CAPTURES(SMALL_SLOTS));
	return 1;
}

#define NOTHING_READ ((1 << RETURN_SLOTS) - 1)

/* Sends the end of a call whose entry was sent, with what it returns if `s` is; 0 when the ring is full. */
__noinline int send_return(struct seen *s, const struct function *f, __u16 id, __u64 now, __u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wire_return *r;

	if (!f)
		return 0;
	r = reserve(f, sizeof(*r));
	if (!r)
		return 0;
	fill_wire((struct wire_head *)r, task, id, now, sp, RETURNED);
	if (s)
		fill_slots((struct wire_head *)r, s, f->on_return, f->return_captures, r->slot,
			   RETURN_SLOTS);
	else
		r->__call |= NOTHING_READ;
	submit(r);
	return 1;
}

/* Sends a call whose entry was not sent; 0 when the ring is full. */
__noinline int send_whole(struct seen *s, const struct function *f, __u16 id, __u64 start,
			  __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wire_whole *r;

	if (!s || !f)
		return 0;
	r = reserve(f, sizeof(*r));
	if (!r)
		return 0;
	fill_wire((struct wire_head *)r, task, id, start, now, RETURNED);
	copy_comm(r->comm, task);
	fill_slots((struct wire_head *)r, s, f->on_return, f->return_captures, r->slot,
		   RETURN_SLOTS);
	submit(r);
	return 1;
}

static __always_inline int is_wanted_process(void)
{
	return everyone || is_target(bpf_get_current_task_btf()->tgid);
}

/* Counts the call; 1 when it is to be recorded. */
static __always_inline int wanted(const struct function *f, struct counter *c)
{
	count(&c->hits);
	if (!is_wanted_process()) {
		count(&c->filtered);
		return 0;
	}
	if (f->sample != 1 && (!f->sample || c->hits % f->sample)) {
		count(&c->sampled_out);
		return 0;
	}
	return 1;
}

/*
 * Spreads those whose end is recorded by the golden ratio: a plain count would pick the same calls of each step where
 * a step has a multiple of them.
 */
static __always_inline int is_end_wanted(const struct function *f, struct counter *c)
{
	return f->ends <= 1 || (__u32)c->hits * 0x9e3779b1u < 0xffffffffu / f->ends;
}

/* Returns 1 when the return is wanted. *kept is what that should know of the entry. */
static __always_inline int on_enter(struct pt_regs *regs, const struct function *f, __u32 id,
				    __u64 *kept)
{
	struct counter *c = counter_of(id);
	struct seen s;
	__u64 now;
	int ends;

	if (!c || !wanted(f, c))
		return 0;
	now = bpf_ktime_get_ns();
	see(&s, regs, 0);
	*kept = f->flags & KEEP_ARGUMENT ? argument(&s, f->keep_argument) : now;
	ends = f->flags & SEND_RETURN && is_end_wanted(f, c);
	if (f->flags & SEND_ENTER &&
	    !send_entry(&s, f, id, now, f->flags & SEND_RETURN && !ends ? UNENDED : 0)) {
		count(&c->lost);
		return 0;
	}
	return ends;
}

/* A USDT tracepoint: an instant whose values lie in any register. */
SEC("kprobe")
int tracepoint(struct pt_regs *regs)
{
	__u32 id = bpf_get_attach_cookie(regs);
	struct function *f = bpf_map_lookup_elem(&functions, &id);
	struct counter *c = counter_of(id);
	struct seen s;

	if (!f || !c || !wanted(f, c))
		return 0;
	see_all(&s, regs);
	if (!send_entry(&s, f, id, bpf_ktime_get_ns(), 0))
		count(&c->lost);
	return 0;
}

/* They are the last of what is read on return. */
static __always_inline int wants_callers(const struct function *f)
{
	__u32 last = f->return_captures - 1;

	return last < RETURN_SLOTS && f->on_return[last].source == SOURCE_CALLERS;
}

/* Of a call whose start was not kept it is not known how long it took. */
static __always_inline __u64 callers(const struct function *f, __u64 start, __u64 now)
{
	if (f->flags & TIMED && start != Z_NULL)
		return stack_after(now - start, now);
	return stack_after(stack_min_ns, now);
}

/* `sp` as it is after the return. */
static __always_inline void on_return(struct pt_regs *regs, const struct function *f, __u32 id,
				      __u64 kept, __u64 sp)
{
	__u64 now = bpf_ktime_get_ns();
	struct counter *c = counter_of(id);
	struct seen s;
	int sent;

	if (!c)
		return;
	see(&s, regs, kept);
	s.sp = sp;
	if (wants_callers(f))
		s.stack = callers(f, kept, now);
	if (f->flags & SEND_ENTER) {
		sent = send_return(&s, f, id, now, sp - 8);
	} else {
		count(&c->returns);
		sent = send_whole(&s, f, id, kept, now);
	}
	if (!sent)
		count(&c->returns_lost);
}

/*
 * Of calls whose return is no part of a session: arguments for returns that read what they point to, and
 * which calls were taken.
 */
struct kept_key {
	__u64 thread;
	__u64 sp;
	__u64 function;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct kept_key);
	__type(value, __u64);
} kept SEC(".maps");

/*
 * A C++ function may be left by an exception, and the unwinder ends the process when it meets the address
 * that the kernel puts in place of a probed function's return address. So such a function is probed at its
 * start and where it is left: at `ret`, or before it, and at jumps out of it. An instruction that looks
 * like one and does not leave is met with another stack pointer than the entry had. Its entries are always
 * sent.
 * Coroutines and threads that end by unwinding need the same of a function in C that others run in.
 */
SEC("kprobe")
int call_enter(struct pt_regs *regs)
{
	__u32 id = bpf_get_attach_cookie(regs);
	struct function *f = bpf_map_lookup_elem(&functions, &id);
	struct kept_key key = { bpf_get_current_pid_tgid(), regs->sp, id };
	__u64 value = Z_NULL;

	if (!f)
		return 0;
	if (on_enter(regs, f, id, &value))
		bpf_map_update_elem(&kept, &key, &value, BPF_ANY);
	else
		bpf_map_delete_elem(&kept, &key);
	return 0;
}

/* Takes what was kept of the call whose return address is at `sp`; 0 when nothing is. */
static __always_inline int take_kept(__u64 sp, __u32 id, __u64 *value)
{
	struct kept_key key = { bpf_get_current_pid_tgid(), sp, id };
	__u64 *found = bpf_map_lookup_elem(&kept, &key);

	if (!found)
		return 0;
	*value = *found;
	bpf_map_delete_elem(&kept, &key);
	return 1;
}

/* The cookie says, above the function's number, how much lies on the stack above the return address. */
SEC("kprobe")
int call_exit(struct pt_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs);
	__u64 sp = regs->sp + (cookie >> 32);
	__u32 id = cookie;
	struct function *f = bpf_map_lookup_elem(&functions, &id);
	__u64 value;

	if (f && take_kept(sp, id, &value))
		on_return(regs, f, id, value, sp + 8);
	return 0;
}

/* Another function goes on in its place, so what it will return is not known yet. */
SEC("kprobe")
int call_jump(struct pt_regs *regs)
{
	__u32 id = bpf_get_attach_cookie(regs);
	struct function *f = bpf_map_lookup_elem(&functions, &id);
	struct counter *c = counter_of(id);
	__u64 value;

	if (f && c && take_kept(regs->sp, id, &value) &&
	    !send_return(NULL, f, id, bpf_ktime_get_ns(), regs->sp))
		count(&c->returns_lost);
	return 0;
}

#if defined(BACKEND_MULTI)

/* Whether not every call is taken, so that it is kept which were. */
static __always_inline int takes_some(const struct function *f)
{
	return f->flags & IN_WINDOWS || f->sample != 1 || f->ends > 1;
}

static __always_inline int keeps(const struct function *f)
{
	return f->flags & (KEEP_ARGUMENT | TIMED) || takes_some(f);
}

SEC("kprobe")
int function_enter(struct pt_regs *regs)
{
	__u32 id = bpf_get_attach_cookie(regs);
	struct function *f = bpf_map_lookup_elem(&functions, &id);
	__u64 value;

	if (f && on_enter(regs, f, id, &value) && keeps(f)) {
		struct kept_key key = { bpf_get_current_pid_tgid(), regs->sp, id };

		bpf_map_update_elem(&kept, &key, &value, BPF_ANY);
	}
	return 0;
}

SEC("kprobe")
int function_return(struct pt_regs *regs)
{
	__u32 id = bpf_get_attach_cookie(regs);
	struct function *f = bpf_map_lookup_elem(&functions, &id);
	__u64 value = Z_NULL;

	if (!f || !is_wanted_process())
		return 0;
	if (keeps(f)) {
		struct kept_key key = { bpf_get_current_pid_tgid(), regs->sp - 8, id };
		__u64 *found = bpf_map_lookup_elem(&kept, &key);

		if (found)
			value = *found;
		else if (takes_some(f))
			return 0;
		bpf_map_delete_elem(&kept, &key);
	}
	on_return(regs, f, id, value, regs->sp);
	return 0;
}

#else

#if defined(BACKEND_SESSION_CTX)
extern _Bool bpf_session_is_return(void *ctx) __ksym;
extern __u64 *bpf_session_cookie(void *ctx) __ksym;
#define IS_RETURN(regs) bpf_session_is_return(regs)
#define COOKIE(regs) bpf_session_cookie(regs)
#else
extern _Bool bpf_session_is_return(void) __ksym;
extern __u64 *bpf_session_cookie(void) __ksym;
#define IS_RETURN(regs) bpf_session_is_return()
#define COOKIE(regs) bpf_session_cookie()
#endif

static __always_inline int keeps(const struct function *f)
{
	return f->flags & (KEEP_ARGUMENT | TIMED) || !(f->flags & SEND_ENTER);
}

/* On entry, 1 tells the kernel not to take the return. */
SEC("kprobe")
int function(struct pt_regs *regs)
{
	__u32 id = bpf_get_attach_cookie(regs);
	struct function *f = bpf_map_lookup_elem(&functions, &id);
	__u64 value;

	if (!f)
		return 1;
	if (IS_RETURN(regs)) {
		on_return(regs, f, id, keeps(f) ? *COOKIE(regs) : 0, regs->sp);
		return 0;
	}
	if (!on_enter(regs, f, id, &value))
		return 1;
	if (keeps(f))
		*COOKIE(regs) = value;
	return 0;
}

#endif

char LICENSE[] SEC("license") = "Dual BSD/GPL";
