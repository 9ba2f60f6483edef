/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "cupti.h"
#include "libc.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
				     "libcupti.so" };
/* Where it is, seen from the folder of CUDA's runtime: wheels of CUDA 13, of CUDA 12, the toolkit. */
static const char *const folders[] = { "", "../../cuda_cupti/lib/", "../extras/CUPTI/lib64/",
				       "../../../extras/CUPTI/lib64/" };

struct loaded {
	char cupti[512]; /* a libcupti that the job has opened itself */
	char runtime[512];
};

static void keep(char *place, const char *path)
{
	if (!place[0] && strlen(path) < sizeof(((struct loaded *)0)->cupti))
		strcpy(place, path);
}

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loaded *loaded = data;
	const char *file = strrchr(info->dlpi_name, '/');

	(void)size;
	if (file && strncmp(file, "/libcupti", 9) == 0)
		keep(loaded->cupti, info->dlpi_name);
	if (file && strncmp(file, "/libcudart", 10) == 0)
		keep(loaded->runtime, info->dlpi_name);
	return 0;
}

/* That of the same version as the runtime first. */
static void *open_beside(const char *runtime, char *path, size_t size)
{
	const char *file = strrchr(runtime, '/') + 1;
	int twelve = strstr(file, ".so.12") != NULL, eleven = strstr(file, ".so.11") != NULL;
	unsigned count = sizeof(names) / sizeof(names[0]), first = eleven ? 2 : twelve ? 1 : 0;

	for (unsigned n = 0; n < count; n++) {
		for (unsigned f = 0; f < sizeof(folders) / sizeof(folders[0]); f++) {
			void *library;

			snprintf(path, size, "%.*s%s%s", (int)(file - runtime), runtime,
				 folders[f], names[(first + n) % count]);
			library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
			if (library)
				return library;
		}
	}
	return NULL;
}

static void *open_anywhere(char *path, size_t size)
{
	static const char *const places[] = { "", "/usr/local/cuda/extras/CUPTI/lib64/" };

	for (unsigned p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
		for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
			void *library;

			snprintf(path, size, "%s%s", places[p], names[n]);
			library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
			if (library)
				return library;
		}
	}
	return NULL;
}

static void *open_library(char *path, size_t size)
{
	struct loaded loaded = { "", "" };
	void *library = NULL;

	dl_iterate_phdr(look, &loaded);
	if (loaded.cupti[0]) {
		snprintf(path, size, "%s", loaded.cupti);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	if (!library && loaded.runtime[0])
		library = open_beside(loaded.runtime, path, size);
	return library ? library : open_anywhere(path, size);
}

const char *cupti_open(struct cupti *cupti)
{
	void *library = open_library(cupti->path, sizeof(cupti->path));

	if (!library) {
		cupti->path[0] = 0;
		return "no libcupti beside the job's CUDA runtime";
	}
#define CUPTI_FIND_required(name)                                                                 \
	if (!cupti->name)                                                                         \
		return "libcupti has no " #name;
#define CUPTI_FIND_optional(name)
#define CUPTI_FIND(need, name, parameters)                                                        \
	cupti->name = (int(*) parameters)dlsym(library, #name);                                   \
	CUPTI_FIND_##need(name)
	CUPTI_FUNCTIONS(CUPTI_FIND)
	cupti->cuptiGetVersion(&cupti->version);
	return NULL;
}

const char *cupti_text(const struct cupti *cupti, int result)
{
	const char *text = NULL;

	if (cupti->cuptiGetResultString)
		cupti->cuptiGetResultString(result, &text);
	return text ? text : "an error of CUPTI";
}
