/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread after the other blocks in a system call, each named after it, for LONG_MS and then for nothing.
 *
 *     blocks DIRECTORY
 *
 * What ends a call is done by another thread or process, LONG_MS after the thread has gone to sleep.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONG_MS 250

struct blocker {
	const char *name;
	void (*wait)(long nanoseconds);
	void (*end)(void);
	int object; /* descriptor */
};

static struct blocker *current;
static volatile pid_t tid;
static int unix_ends[2], full_ends[2], tcp_listener, tcp_client, tcp_server, unix_listener, lock_file, other_file;
static int queue, semaphores;
static struct sockaddr_un unix_address = { .sun_family = AF_UNIX };
static char buffer[1 << 20];

static void check(int well, const char *doing)
{
	if (!well) {
		fprintf(stderr, "blocks: %s: %s\n", doing, strerror(errno));
		exit(1);
	}
}

static void pause_ns(long nanoseconds)
{
	struct timespec t = { .tv_nsec = nanoseconds };

	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
}

static void wait_nanosleep(long ns)
{
	struct timespec t = { .tv_nsec = ns };

	syscall(SYS_nanosleep, &t, NULL);
}

static void wait_recvfrom(long ns)
{
	recvfrom(unix_ends[0], buffer, 1, ns ? 0 : MSG_DONTWAIT, NULL, NULL);
}

static void end_recvfrom(void)
{
	(void)!write(unix_ends[1], "", 1);
}

static void wait_recvmsg(long ns)
{
	struct iovec one = { buffer, 1 };
	struct msghdr message = { .msg_iov = &one, .msg_iovlen = 1 };

	recvmsg(tcp_client, &message, ns ? 0 : MSG_DONTWAIT);
}

static void end_recvmsg(void)
{
	(void)!write(tcp_server, "", 1);
}

static void wait_sendto(long ns)
{
	if (ns)
		while (send(full_ends[1], buffer, sizeof(buffer), MSG_DONTWAIT) > 0)
			;
	sendto(full_ends[1], buffer, 1, ns ? 0 : MSG_DONTWAIT, NULL, 0);
}

static void end_sendto(void)
{
	while (recv(full_ends[0], buffer, sizeof(buffer), MSG_DONTWAIT) > 0)
		;
}

static void connect_tcp(void)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);

	getsockname(tcp_listener, (struct sockaddr *)&address, &size);
	tcp_client = socket(AF_INET, SOCK_STREAM, 0);
	check(connect(tcp_client, (struct sockaddr *)&address, size) == 0, "connecting");
}

static void wait_accept(long ns)
{
	if (ns)
		tcp_server = accept(tcp_listener, NULL, NULL);
}

/* The second connection waits until the first is accepted. */
static void wait_connect(long ns)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (ns) {
		check(connect(fd, (struct sockaddr *)&unix_address, sizeof(unix_address)) == 0, "connecting");
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		check(connect(fd, (struct sockaddr *)&unix_address, sizeof(unix_address)) == 0, "connecting");
	}
}

static void end_connect(void)
{
	accept(unix_listener, NULL, NULL);
}

static pid_t sleeping_child(long ns)
{
	pid_t child = fork();

	if (child == 0) {
		pause_ns(ns);
		_exit(0);
	}
	return child;
}

static void wait_wait4(long ns)
{
	syscall(SYS_wait4, ns ? sleeping_child(ns) : -1, NULL, ns ? 0 : WNOHANG, NULL);
}

static void wait_waitid(long ns)
{
	siginfo_t info;

	waitid(ns ? P_PID : P_ALL, ns ? sleeping_child(ns) : 0, &info, WEXITED | (ns ? 0 : WNOHANG));
}

static void wait_flock(long ns)
{
	flock(lock_file, ns ? LOCK_EX : LOCK_UN);
}

static void end_flock(void)
{
	flock(other_file, LOCK_UN);
}

static void wait_fcntl(long ns)
{
	struct flock all = { .l_type = ns ? F_WRLCK : F_UNLCK };

	check(fcntl(lock_file, F_GETFL) >= 0, "asking");
	fcntl(lock_file, F_OFD_SETLKW, &all);
}

static void end_fcntl(void)
{
	struct flock all = { .l_type = F_UNLCK };

	fcntl(other_file, F_OFD_SETLK, &all);
}

static void signalled(int signal)
{
	(void)signal;
}

static void end_by_signal(void)
{
	syscall(SYS_tgkill, getpid(), tid, SIGUSR1);
}

static void wait_pause(long ns)
{
	if (ns)
		pause();
}

static void wait_sigsuspend(long ns)
{
	sigset_t none;

	sigemptyset(&none);
	if (ns)
		sigsuspend(&none);
}

static void wait_sigtimedwait(long ns)
{
	struct timespec t = { .tv_nsec = ns };
	sigset_t two;

	sigemptyset(&two);
	sigaddset(&two, SIGUSR2);
	sigtimedwait(&two, NULL, &t);
}

static void wait_semtimedop(long ns)
{
	struct sembuf down = { .sem_op = -1 };
	struct timespec t = { .tv_nsec = ns };

	semtimedop(semaphores, &down, 1, &t);
}

static void wait_msgrcv(long ns)
{
	struct {
		long type;
		char text[8];
	} message;

	msgrcv(queue, &message, sizeof(message.text), 0, ns ? 0 : IPC_NOWAIT);
}

static void end_msgrcv(void)
{
	long message[2] = { 1, 0 };

	msgsnd(queue, message, 8, 0);
}

static void wait_getevents(long ns)
{
	static aio_context_t context;
	struct timespec t = { .tv_nsec = ns };
	struct io_event event;

	if (!context)
		check(syscall(SYS_io_setup, 1, &context) == 0, "setting up");
	syscall(SYS_io_getevents, context, 1, 1, &event, &t);
}

/* What a file about the thread says at the start, or nothing. */
static void ask(const char *name, char *answer, int size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, name);
	file = fopen(path, "r");
	if (!file || !fgets(answer, size, file))
		answer[0] = 0;
	if (file)
		fclose(file);
}

/*
 * A thread that is preempted on its way to sleep has the state of one that sleeps. In what system call it is the kernel says only
 * when it has left its CPU for good.
 */
static int sleeps(void)
{
	char stat[64], call[64], state = 0;

	if (!tid)
		return 0;
	ask("stat", stat, sizeof(stat));
	ask("syscall", call, sizeof(call));
	return sscanf(stat, "%*d %*s %c", &state) == 1 && state == 'S' && call[0] && strncmp(call, "running", 7) != 0;
}

static void *run(void *unused)
{
	char name[16];

	snprintf(name, sizeof(name), "z-%s", current->name);
	prctl(PR_SET_NAME, name);
	tid = syscall(SYS_gettid);
	current->wait(LONG_MS * 1000000L);
	current->wait(0);
	return unused;
}

static void block(struct blocker *b)
{
	struct stat st = { 0 };
	pthread_t thread;

	current = b;
	tid = 0;
	pthread_create(&thread, NULL, run, NULL);
	if (b->end) {
		while (!sleeps())
			;
		pause_ns(LONG_MS * 1000000L);
		b->end();
	}
	pthread_join(thread, NULL);
	if (b->object)
		fstat(b->object, &st);
	printf("{\"case\":\"%s\",\"inode\":%lu}\n", b->name, (unsigned long)st.st_ino);
}

static void prepare(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct flock all = { .l_type = F_WRLCK };
	struct sigaction action = { .sa_handler = signalled };

	sigaction(SIGUSR1, &action, NULL);
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, unix_ends) == 0, "making sockets");
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, full_ends) == 0, "making sockets");
	tcp_listener = socket(AF_INET, SOCK_STREAM, 0);
	check(bind(tcp_listener, (struct sockaddr *)&any, sizeof(any)) == 0 && listen(tcp_listener, 1) == 0, "listening");
	unix_listener = socket(AF_UNIX, SOCK_STREAM, 0);
	strcpy(unix_address.sun_path, "listener");
	check(bind(unix_listener, (struct sockaddr *)&unix_address, sizeof(unix_address)) == 0 &&
		      listen(unix_listener, 0) == 0,
	      "listening");
	lock_file = open("lock", O_CREAT | O_RDWR, 0600);
	other_file = open("lock", O_RDWR);
	check(flock(other_file, LOCK_EX) == 0 && fcntl(other_file, F_OFD_SETLK, &all) == 0, "locking");
	queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	check(queue >= 0 && semaphores >= 0, "making a queue");
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: blocks DIRECTORY\n");
		return 2;
	}
	check(chdir(argv[1]) == 0, argv[1]);
	prepare();

	struct blocker blockers[] = {
		{ "accept", wait_accept, connect_tcp, tcp_listener },
		{ "connect", wait_connect, end_connect, 0 },
		{ "fcntl", wait_fcntl, end_fcntl, 0 },
		{ "flock", wait_flock, end_flock, 0 },
		{ "io_getevents", wait_getevents, NULL, 0 },
		{ "msgrcv", wait_msgrcv, end_msgrcv, 0 },
		{ "nanosleep", wait_nanosleep, NULL, 0 },
		{ "pause", wait_pause, end_by_signal, 0 },
		{ "clock_nano", pause_ns, NULL, 0 },
		{ "recvfrom", wait_recvfrom, end_recvfrom, unix_ends[0] },
		{ "recvmsg", wait_recvmsg, end_recvmsg, 0 },
		{ "semtimedop", wait_semtimedop, NULL, 0 },
		{ "sendto", wait_sendto, end_sendto, full_ends[1] },
		{ "sigsuspend", wait_sigsuspend, end_by_signal, 0 },
		{ "sigtimed", wait_sigtimedwait, NULL, 0 },
		{ "wait4", wait_wait4, NULL, 0 },
		{ "waitid", wait_waitid, NULL, 0 },
	};

	for (size_t i = 0; i < sizeof(blockers) / sizeof(*blockers); i++)
		block(&blockers[i]);
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	return 0;
}
