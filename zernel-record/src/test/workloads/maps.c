/* SPDX-License-Identifier: Apache-2.0 */
/* Maps libraries as a loader does, without running anything of them: maps FILE..., until it reads a line. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct stat status;
		int fd = open(argv[i], O_RDONLY);

		if (fd < 0 || fstat(fd, &status) != 0
		    || mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
			perror(argv[i]);
			return 1;
		}
	}
	puts("mapped");
	fflush(stdout);
	getchar();
	return 0;
}
