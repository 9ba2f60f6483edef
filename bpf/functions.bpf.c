// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls of user-space functions, for every kind that is seen through a uprobe. What to read of a call is
 * data: a row of `functions`, one capture per column. A call is sent as an ENTER record (when there is
 * something to read on entry) and a RETURN record; the recorder joins them by (thread, function, stack
 * pointer), so no program keeps state and recursion, longjmp and fork need no special case here.
 *
 * Built once per backend: -DBACKEND_SESSION, -DBACKEND_SESSION_CTX (kernels whose session kfuncs take
 * the context) or -DBACKEND_MULTI (entry and return programs of their own, also for perf uprobes).
 */
#include "zernel.bpf.h"

EVENT(call, "a call of a function the user named")
{
	EVENT_HEAD;
};

#define SLOTS 12
#define SMALL_SLOTS 4
#define RETURN_SLOTS SMALL_SLOTS
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
	__u8 derefs;
	__u8 index; /* register, as argument */
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
};

struct function {
	__u16 kind;
	__u8 flags;
	__u8 captures;
	__u8 return_captures;
	__u8 keep_argument;
	__u16 __pad;
	__u32 sample; /* every n-th call is recorded, 0: none, all are counted */
	struct capture capture[SLOTS];
	struct capture on_return[RETURN_SLOTS];
	struct capture text;
};

enum phase {
	PHASE_ENTER = 1,
	PHASE_RETURN = 2,
};

/* Wire records; the recorder finds their layout by these names. */
struct wire_small {
	EVENT_HEAD;
	__u64 sp;
	__u16 phase;
	__u16 bad; /* bit n: capture n could not be read */
	__u32 text_length;
	__u64 slot[SMALL_SLOTS];
};

struct wire_large {
	EVENT_HEAD;
	__u64 sp;
	__u16 phase;
	__u16 bad;
	__u32 text_length;
	__u64 slot[SLOTS];
};

struct wire_text {
	EVENT_HEAD;
	__u64 sp;
	__u16 phase;
	__u16 bad;
	__u32 text_length;
	__u64 slot[SLOTS];
	char text[TEXT_SIZE];
};

struct wire_small *wire_small_layout;
struct wire_large *wire_large_layout;
struct wire_text *wire_text_layout;
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

	if (c->derefs && c->source != SOURCE_CONSTANT) {
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

#define FILL_SLOTS(record, captures_of, count_of, limit)                                          \
	do {                                                                                      \
		for (int i = 0; i < (limit); i++) {                                               \
			__u64 value = 0;                                                          \
			if (i < (count_of) && read_capture(s, &(captures_of)[i], &value))         \
				(record)->bad |= 1 << i;                                          \
			(record)->slot[i] = value;                                                \
		}                                                                                 \
	} while (0)

static __always_inline void fill_wire(struct wire_small *r, struct seen *s, __u16 kind, __u16 id,
				      __u64 start, __u16 phase)
{
	fill_head((struct head *)r, kind, id, start, Z_NULL);
	r->sp = phase == PHASE_ENTER ? s->sp : s->sp - 8;
	r->phase = phase;
	r->bad = 0;
	r->text_length = 0;
}

static __always_inline int send_small(struct seen *s, const struct function *f, __u16 id,
				      __u64 now)
{
	struct wire_small *r = reserve(f, sizeof(*r));

	if (!r)
		return 0;
	fill_wire(r, s, f->kind, id, now, PHASE_ENTER);
	FILL_SLOTS(r, f->capture, f->captures, SMALL_SLOTS);
	submit(r);
	return 1;
}

static __always_inline int send_large(struct seen *s, const struct function *f, __u16 id,
				      __u64 now)
{
	struct wire_large *r = reserve(f, sizeof(*r));

	if (!r)
		return 0;
	fill_wire((struct wire_small *)r, s, f->kind, id, now, PHASE_ENTER);
	FILL_SLOTS(r, f->capture, f->captures, SLOTS);
	submit(r);
	return 1;
}

static __always_inline int send_text(struct seen *s, const struct function *f, __u16 id, __u64 now)
{
	struct wire_text *r = reserve(f, sizeof(*r));

	if (!r)
		return 0;
	fill_wire((struct wire_small *)r, s, f->kind, id, now, PHASE_ENTER);
	FILL_SLOTS(r, f->capture, f->captures, SLOTS);
	r->text_length = read_text(s, &f->text, r->text);
	submit(r);
	return 1;
}

static __always_inline int send(struct seen *s, const struct function *f, __u16 id, __u64 now)
{
	if (f->flags & HAS_TEXT)
		return send_text(s, f, id, now);
	if (f->captures > SMALL_SLOTS)
		return send_large(s, f, id, now);
	return send_small(s, f, id, now);
}

/* Counts the call; 1 when it is to be recorded. */
static __always_inline int wanted(const struct function *f, struct counter *c)
{
	count(&c->hits);
	if (!everyone && !is_target(bpf_get_current_pid_tgid() >> 32)) {
		count(&c->filtered);
		return 0;
	}
	if (f->sample != 1 && (!f->sample || c->hits % f->sample)) {
		count(&c->sampled_out);
		return 0;
	}
	return 1;
}

/* Returns 1 when the return is wanted. */
static __always_inline int on_enter(struct pt_regs *regs, __u64 *cookie)
{
	__u32 id = bpf_get_attach_cookie(regs);
	struct function *f = bpf_map_lookup_elem(&functions, &id);
	struct counter *c = counter_of(id);
	struct seen s;
	__u64 now;
	int sent;

	if (!f || !c || !wanted(f, c))
		return 0;
	now = bpf_ktime_get_ns();
	see(&s, regs, 0);
	*cookie = f->flags & KEEP_ARGUMENT ? argument(&s, f->keep_argument) : now;
	if (!(f->flags & SEND_ENTER))
		return f->flags & SEND_RETURN;
	sent = send(&s, f, id, now);
	count(sent ? &c->sent : &c->lost);
	return sent && f->flags & SEND_RETURN;
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
	count(send(&s, f, id, bpf_ktime_get_ns()) ? &c->sent : &c->lost);
	return 0;
}

static __always_inline void on_return(struct pt_regs *regs, __u64 kept)
{
	__u32 id = bpf_get_attach_cookie(regs);
	struct function *f = bpf_map_lookup_elem(&functions, &id);
	struct counter *c = counter_of(id);
	__u64 now = bpf_ktime_get_ns();
	struct wire_small *r;
	struct seen seen, *s = &seen;

	if (!f || !c)
		return;
	count(&c->returns);
	see(s, regs, kept);
	r = reserve(f, sizeof(*r));
	if (!r) {
		count(&c->returns_lost);
		return;
	}
	fill_wire(r, s, f->kind, id, f->flags & KEEP_ARGUMENT ? Z_NULL : kept, PHASE_RETURN);
	r->dur_ns = now;
	FILL_SLOTS(r, f->on_return, f->return_captures, RETURN_SLOTS);
	submit(r);
}

#if defined(BACKEND_MULTI)

/*
 * What sessions keep in their cookie: arguments for returns that read what they point to, and which
 * calls of a sampled function were taken.
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

SEC("kprobe")
int function_enter(struct pt_regs *regs)
{
	__u64 cookie = 0;
	__u32 id = bpf_get_attach_cookie(regs);
	struct function *f = bpf_map_lookup_elem(&functions, &id);

	if (on_enter(regs, &cookie) && f && (f->flags & KEEP_ARGUMENT || f->sample != 1)) {
		struct kept_key key = { bpf_get_current_pid_tgid(), regs->sp, id };

		bpf_map_update_elem(&kept, &key, &cookie, BPF_ANY);
	}
	return 0;
}

SEC("kprobe")
int function_return(struct pt_regs *regs)
{
	__u64 argument_kept = Z_NULL;
	struct kept_key key = { bpf_get_current_pid_tgid(), regs->sp - 8, 0 };
	__u64 *found;

	if (!everyone && !is_target(bpf_get_current_pid_tgid() >> 32))
		return 0;
	key.function = bpf_get_attach_cookie(regs);
	found = bpf_map_lookup_elem(&kept, &key);
	if (found) {
		argument_kept = *found;
		bpf_map_delete_elem(&kept, &key);
	} else {
		__u32 id = key.function;
		struct function *f = bpf_map_lookup_elem(&functions, &id);

		if (f && f->sample != 1)
			return 0;
	}
	on_return(regs, argument_kept);
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

/* On entry, 1 tells the kernel not to take the return. */
SEC("kprobe")
int function(struct pt_regs *regs)
{
	__u64 *cookie = COOKIE(regs);

	if (IS_RETURN(regs)) {
		on_return(regs, *cookie);
		return 0;
	}
	return on_enter(regs, cookie) ? 0 : 1;
}

#endif

char LICENSE[] SEC("license") = "Dual BSD/GPL";
