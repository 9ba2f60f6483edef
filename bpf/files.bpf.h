/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files behind descriptors. An event carries the key of its file; the path goes to the recorder in a
 * record of its own when the file is first seen. So close, dup, fork, exec and passed descriptors need no
 * attention: the key is of the open file, not of the descriptor.
 */
#ifndef ZERNEL_FILES_BPF_H
#define ZERNEL_FILES_BPF_H

#include "zernel.bpf.h"

#define NAMES_SIZE 768
#define NAME_SIZE 256
#define MOST_NAMES 40

/* The kind of a record that tells a path; no event. */
#define KIND_FILE 0xffff

enum file_form {
	FORM_PATH,   /* the names of the path, the last first */
	FORM_CUT,    /* the last names of a path too long for the record */
	FORM_NO_DIR, /* pipe, socket, eventfd: in no directory, with a name or none */
	FORM_ASKED,  /* a path as a program gave it */
};

struct wire_file {
	EVENT_HEAD;
	z_file file;
	__u64 inode;
	__u32 device;
	__u16 mode;
	__u16 form;
	__u64 length;
	char names[NAMES_SIZE]; /* each ends with a zero byte */
};

struct wire_file *wire_file_layout;

/* Files the recorder was told of. It remembers more than this map does. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, z_file);
	__type(value, __u8);
} known_files SEC(".maps");

/* The open file of a descriptor of the current process, NULL when there is none. */
static __always_inline struct file *file_of(__s32 fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fdtable *table = task->files->fdt;
	struct file *file = 0;

	if ((__u32)fd >= table->max_fds)
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), &table->fd[(__u32)fd]);
	return file;
}

/* Anonymous files of all types share one inode, hence the operations. */
static __always_inline void identify(z_file *key, struct file *file)
{
	key->file = (__u64)file;
	key->id = BPF_CORE_READ(file, f_inode, i_ino) + (__u64)BPF_CORE_READ(file, f_op);
}

static __always_inline struct wire_file *reserve_file(z_file *key, __u16 form)
{
	struct wire_file *r = bpf_ringbuf_reserve(&bulk, sizeof(*r), 0);

	if (!r)
		return 0;
	r->__kind = KIND_FILE;
	r->__function = 0;
	r->file = *key;
	r->inode = 0;
	r->device = 0;
	r->mode = 0;
	r->form = form;
	r->length = 0;
	return r;
}

static __always_inline int add_name(struct wire_file *r, const void *name)
{
	__u64 at = r->length;
	long size;

	if (at > NAMES_SIZE - NAME_SIZE)
		return 0;
	size = bpf_probe_read_kernel_str(r->names + at, NAME_SIZE, name);
	if (size <= 0)
		return 0;
	r->length = at + size;
	return 1;
}

/* One step towards the root of the mount namespace; 0 when it is reached or there is no room for more. */
static __always_inline int step_up(struct wire_file *r, struct path *at)
{
	struct dentry *parent = BPF_CORE_READ(at->dentry, d_parent);
	struct mount *mount, *above;

	if (at->dentry == BPF_CORE_READ(at->mnt, mnt_root)) {
		mount = (void *)at->mnt - bpf_core_field_offset(struct mount, mnt);
		above = BPF_CORE_READ(mount, mnt_parent);
		if (above == mount) {
			r->form = FORM_PATH;
			return 0;
		}
		at->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		at->mnt = (void *)above + bpf_core_field_offset(struct mount, mnt);
		return 1;
	}
	if (!add_name(r, BPF_CORE_READ(at->dentry, d_name.name)))
		return 0;
	if (at->dentry == parent) {
		r->form = FORM_NO_DIR;
		return 0;
	}
	at->dentry = parent;
	return 1;
}

/*
 * The names of a path from its end upwards. Not static: the verifier then looks at it once, not on every way to each of its
 * calls, which took it half a second for all that may tell a path.
 */
__noinline int tell_names(struct wire_file *r, __u64 dentry, __u64 mount)
{
	struct path at = { (struct vfsmount *)mount, (struct dentry *)dentry };

	if (!r)
		return 0;
	for (int i = 0; i < MOST_NAMES; i++) {
		if (!step_up(r, &at))
			break;
	}
	return 0;
}

#define MOST_LAYERS 2		 /* FILESYSTEM_MAX_STACK_DEPTH, include/linux/fs.h */
#define OVERLAY_MAGIC 0x794c7630 /* OVERLAYFS_SUPER_MAGIC, include/uapi/linux/magic.h */

/* fs/overlayfs/ovl_entry.h, as it is since 6.5. */
struct ovl_path {
	struct dentry *dentry;
} CORE;

struct ovl_entry {
	unsigned int __numlower;
	struct ovl_path __lowerstack[];
} CORE;

struct ovl_inode {
	struct inode vfs_inode;
	struct dentry *__upperdentry;
	struct ovl_entry *oe;
} CORE;

/*
 * The inode that page faults on a mapping of the file tell. On overlayfs, where containers have their files, that is the one
 * of the layer that has the file's pages. Where that cannot be found it is the file's own, by which no fault is found.
 */
static __always_inline struct inode *mapped_inode(struct inode *inode)
{
	struct ovl_inode *overlay = 0;
	struct ovl_entry *lower = 0;
	struct inode *mapped = 0;
	struct dentry *dentry;

	if (BPF_CORE_READ(inode, i_sb, s_magic) != OVERLAY_MAGIC ||
	    !bpf_core_field_exists(overlay->__upperdentry) ||
	    !bpf_core_field_exists(lower->__lowerstack))
		return inode;
	/* Not before: where there is no such type, the verifier must not come here. */
	asm volatile("" : "+r"(inode));
	overlay = (void *)inode - bpf_core_field_offset(struct ovl_inode, vfs_inode);
	dentry = BPF_CORE_READ(overlay, __upperdentry);
	lower = BPF_CORE_READ(overlay, oe);
	if (!dentry && lower && BPF_CORE_READ(lower, __numlower))
		dentry = BPF_CORE_READ(lower, __lowerstack[0].dentry);
	if (dentry)
		mapped = BPF_CORE_READ(dentry, d_inode);
	return mapped ? mapped : inode;
}

/* Tells the recorder the path of a file; 0 when the ring is full. */
static __noinline int send_file(z_file *key)
{
	struct file *file;
	struct inode *inode;
	struct wire_file *r;

	if (!key)
		return 0;
	file = (struct file *)key->file;
	r = reserve_file(key, FORM_CUT);
	if (!r)
		return 0;
	inode = BPF_CORE_READ(file, f_inode);
	r->mode = BPF_CORE_READ(inode, i_mode);
	for (int i = 0; i < MOST_LAYERS; i++)
		inode = mapped_inode(inode);
	r->inode = BPF_CORE_READ(inode, i_ino);
	r->device = BPF_CORE_READ(inode, i_sb, s_dev);
	tell_names(r, (__u64)BPF_CORE_READ(file, f_path.dentry),
		   (__u64)BPF_CORE_READ(file, f_path.mnt));
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 1;
}

/* Fills the key of an open file and tells its path, also if the recorder knows one. */
static __always_inline void tell_file_anew(z_file *key, struct file *file)
{
	z_file k = {};
	__u8 yes = 1;

	if (file) {
		identify(&k, file);
		if (send_file(&k))
			bpf_map_update_elem(&known_files, &k, &yes, BPF_ANY);
	}
	*key = k;
}

/* Fills the key of an open file and sees to it that the recorder knows its path. */
static __always_inline void tell_file(z_file *key, struct file *file)
{
	z_file k = {};
	__u8 yes = 1;

	if (file) {
		identify(&k, file);
		if (!bpf_map_lookup_elem(&known_files, &k) && send_file(&k))
			bpf_map_update_elem(&known_files, &k, &yes, BPF_ANY);
	}
	*key = k;
}

/* Makes a text of a path that could not be opened: there is no file. */
static __always_inline void tell_asked(z_file *key, const void *path)
{
	z_file k = { Z_FILE_ASKED | (__u32)bpf_get_current_pid_tgid(), bpf_ktime_get_ns() };
	struct wire_file *r = reserve_file(&k, FORM_ASKED);
	long size;

	if (r) {
		size = bpf_probe_read_user_str(r->names, NAMES_SIZE, path);
		r->length = size > 0 ? size : 0;
		bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	}
	*key = k;
}

#endif
