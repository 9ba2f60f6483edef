/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lives a known life: two threads, one child that executes another program, one that exits with 7, one that
 * is killed. Prints who was who.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *tid)
{
	prctl(PR_SET_NAME, "z-worker");
	*(int *)tid = syscall(SYS_gettid);
	return NULL;
}

static int on_thread(void)
{
	pthread_t thread;
	int tid = 0;

	pthread_create(&thread, NULL, work, &tid);
	pthread_join(thread, NULL);
	return tid;
}

static void become_true(void)
{
	execl("/bin/true", "true", (char *)NULL);
}

static void exit_with_seven(void)
{
	on_thread();
	_exit(7);
}

static void be_killed(void)
{
	raise(SIGKILL);
}

static int child(void (*body)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		body();
		_exit(99);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

int main(void)
{
	int first, second, executed, seven, killed;

	prctl(PR_SET_NAME, "z-life");
	first = on_thread();
	second = on_thread();
	executed = child(become_true);
	seven = child(exit_with_seven);
	killed = child(be_killed);
	printf("{\"case\":\"life\",\"pid\":%d,\"threads\":[%d,%d],\"executed\":%d,\"seven\":%d,\"killed\":%d}\n",
	       getpid(), first, second, executed, seven, killed);
	return 3;
}
