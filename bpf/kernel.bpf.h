/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The few kernel types the programs touch. CO-RE finds the real offsets at load time. */
#ifndef ZERNEL_KERNEL_BPF_H
#define ZERNEL_KERNEL_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#define CORE __attribute__((preserve_access_index))

struct pid;

struct signal_struct {
	struct {
		int counter;
	} live;
	struct pid *pids[4]; /* by enum pid_type */
} CORE;

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
} CORE;

struct inode {
	__u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
} CORE;

struct address_space {
	struct inode *host;
} CORE;

struct qstr {
	const unsigned char *name;
} CORE;

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
} CORE;

struct vfsmount {
	struct dentry *mnt_root;
} CORE;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
} CORE;

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} CORE;

struct file {
	unsigned int f_mode;
	const void *f_op;
	struct inode *f_inode;
	struct path f_path;
} CORE;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} CORE;

struct files_struct {
	struct fdtable *fdt;
} CORE;

struct sigaction {
	void *sa_handler;
} CORE;

struct k_sigaction {
	struct sigaction sa;
} CORE;

struct sighand_struct {
	struct k_sigaction action[64];
} CORE;

struct thread_struct {
	unsigned long fsbase;
} CORE;

struct task_struct {
	void *stack;
	struct thread_struct thread;
	int pid;
	int tgid;
	int exit_code;
	unsigned int in_iowait : 1;
	unsigned int ptrace;
	struct task_struct *real_parent;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	struct files_struct *files;
	char comm[16];
} CORE;

struct linux_binprm {
	struct file *file;
	const char *filename;
} CORE;

/* x86-64 user ABI, stable: not relocated. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8;
	unsigned long ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

#endif
