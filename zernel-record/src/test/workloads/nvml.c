/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for NVIDIA's libnvidia-ml.so.1 with two made-up GPUs. It has the signatures, structs and codes of the
 * published nvml.h, and appends each number that it gives away to a log, in the words of that header:
 *
 *     function,device,choice,pid,field,value
 *
 * Built with -DLOG="path" (or told by $ZERNEL_NVML_LOG) and, as the test wants it:
 *   -DOLD_DRIVER   lacks what older drivers lack
 *   -DEVERY_GPM   both devices are Hoppers
 *   -DMIG          device 1 is parted in GPU instances 1 and 2, of which 1 has two compute instances
 *   -DLOSES_GPU    device 1 falls off the bus in its fifth round
 *   -DNO_DRIVER    nothing is loaded, nvmlInit says so
 *   -DHANGS        device 1 never answers in its third round
 *   -DSHOWS=1      there is only device 0
 *   -DALIKE        both devices have the same name
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int nvmlReturn_t;
typedef struct nvmlDevice_st *nvmlDevice_t;
typedef struct nvmlEventSet_st *nvmlEventSet_t;

enum {
    SUCCESS = 0,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    DRIVER_NOT_LOADED = 9,
    TIMEOUT = 10,
    GPU_IS_LOST = 15,
    NO_DATA = 21,
    ARGUMENT_VERSION_MISMATCH = 25,
    UNKNOWN = 999,
};

typedef struct { unsigned int gpu, memory; } nvmlUtilization_t;
typedef struct { unsigned long long total, free, used; } nvmlMemory_t;
typedef struct {
    unsigned int pid;
    unsigned long long timeStamp;
    unsigned int smUtil, memUtil, encUtil, decUtil;
} nvmlProcessUtilizationSample_t;
typedef struct {
    unsigned int pid;
    unsigned long long usedGpuMemory;
    unsigned int gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_v2_t;
typedef struct {
    nvmlDevice_t device;
    unsigned long long eventType, eventData;
    unsigned int gpuInstanceId, computeInstanceId;
} nvmlEventData_t;

_Static_assert(sizeof(nvmlUtilization_t) == 8, "as nvml.h");
_Static_assert(sizeof(nvmlMemory_t) == 24, "as nvml.h");
_Static_assert(sizeof(nvmlProcessUtilizationSample_t) == 32, "as nvml.h");
_Static_assert(sizeof(nvmlProcessInfo_v2_t) == 24, "as nvml.h");
/* Of nvml.h of NVML 13.2, with its largest NVML_GPM_METRIC_MAX: the structures' version has stayed 1 meanwhile. */
#define NVML_GPM_METRIC_MAX 333
typedef struct nvmlGpmSample_st *nvmlGpmSample_t;
typedef struct {
    unsigned int metricId;
    nvmlReturn_t nvmlReturn;
    double value;
    struct { char *shortName, *longName, *unit; } metricInfo;
} nvmlGpmMetric_t;
typedef struct {
    unsigned int version, numMetrics;
    nvmlGpmSample_t sample1, sample2;
    nvmlGpmMetric_t metrics[NVML_GPM_METRIC_MAX];
} nvmlGpmMetricsGet_t;
typedef struct { unsigned int version, isSupportedDevice; } nvmlGpmSupport_t;

_Static_assert(sizeof(nvmlEventData_t) == 32, "as nvml.h");
_Static_assert(sizeof(nvmlGpmMetric_t) == 40, "as nvml.h");
_Static_assert(sizeof(nvmlGpmMetricsGet_t) == 13344, "as nvml.h");
_Static_assert(sizeof(nvmlGpmSupport_t) == 8, "as nvml.h");

#define GPUS 2
#ifndef SHOWS
#define SHOWS GPUS
#endif
#define FIRST_PID 5000000 /* no process has such a number */
#define GROWN 170

struct nvmlDevice_st {
    unsigned int index;
    unsigned int round; /* how often its utilization was asked for */
    unsigned int events;
};

static struct nvmlDevice_st gpus[GPUS] = { { .index = 0 }, { .index = 1 } };
static FILE *log_file;
static int xids_told;

static void told(const char *function, nvmlDevice_t d, int choice, unsigned int pid, const char *field,
                 unsigned long long value)
{
    fprintf(log_file, "%s,%u,%d,%u,%s,%llu\n", function, d->index, choice, pid, field, value);
    fflush(log_file);
}

/* Different in every call, device and question. */
static unsigned long long varying(nvmlDevice_t d, unsigned long long base)
{
    return base + 7 * d->round + 3 * d->index;
}

static int is_lost(nvmlDevice_t d)
{
#ifdef LOSES_GPU
    return d->index == 1 && d->round >= 5;
#else
    (void)d;
    return 0;
#endif
}

nvmlReturn_t nvmlInit_v2(void)
{
#ifdef NO_DRIVER
    return DRIVER_NOT_LOADED;
#else
#ifdef LOG
    log_file = fopen(LOG, "a");
#else
    log_file = fopen(getenv("ZERNEL_NVML_LOG"), "a");
#endif
    return log_file ? SUCCESS : UNKNOWN;
#endif
}

nvmlReturn_t nvmlShutdown(void)
{
    fprintf(log_file, "nvmlShutdown,0,0,0,,0\n");
    fclose(log_file);
    return SUCCESS;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
    snprintf(version, length, "570.00.77");
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count)
{
    *count = SHOWS;
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
    if (index >= GPUS)
        return INVALID_ARGUMENT;
    *device = &gpus[index];
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t d, char *name, unsigned int length)
{
#ifdef ALIKE
    snprintf(name, length, "Stand-in A100");
#else
    snprintf(name, length, "Stand-in %c100", 'A' + d->index);
#endif
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t d, char *uuid, unsigned int length)
{
    snprintf(uuid, length, "GPU-00000000-0000-0000-0000-00000000000%u", d->index);
    return SUCCESS;
}

/* nvmlPciInfo_t */
struct pci {
    char legacy[16];
    unsigned int domain, bus, device, id, subsystem;
    char bus_id[32];
};

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t d, struct pci *pci)
{
    snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:3%c:00.0", 'B' + d->index);
    return SUCCESS;
}

/* Device 1 has no PCIe. */
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t d, unsigned int *generation)
{
    if (d->index == 1)
        return NOT_SUPPORTED;
    *generation = 4;
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t d, unsigned int *width)
{
    if (d->index == 1)
        return NOT_SUPPORTED;
    *width = 16;
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t d, nvmlUtilization_t *utilization)
{
    d->round++;
    if (is_lost(d))
        return GPU_IS_LOST;
#ifdef HANGS
    if (d->index == 1 && d->round == 3)
        for (;;)
            pause();
#endif
    utilization->gpu = varying(d, 10);
    utilization->memory = varying(d, 20);
    told(__func__, d, 0, 0, "gpu", utilization->gpu);
    told(__func__, d, 0, 0, "memory", utilization->memory);
    return SUCCESS;
}

#ifndef OLD_DRIVER
#include <sys/time.h>

typedef union { double d; unsigned int ui; unsigned long ul; unsigned long long ull; long long sll; } nvmlValue_t;
typedef struct { unsigned long long timeStamp; nvmlValue_t sampleValue; } nvmlSample_t;

_Static_assert(sizeof(nvmlSample_t) == 16, "as nvml.h");

#define BUSY_SAMPLES 71 /* as an H100 keeps, of which each is of 200 ms */
#define BUSY_EACH 20000 /* [us] */

/* Device 1 keeps samples of how busy it was, device 0 does not. */
nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t d, int type, unsigned long long since, int *value_type,
                                  unsigned int *count, nvmlSample_t *samples)
{
    struct timeval now;
    unsigned long long last;
    unsigned int room = *count;

    if (is_lost(d))
        return GPU_IS_LOST;
    if (type != 1)
        return INVALID_ARGUMENT;
    if (d->index == 0)
        return NOT_SUPPORTED;
    if (!samples) {
        *count = BUSY_SAMPLES;
        return SUCCESS;
    }
    gettimeofday(&now, NULL);
    last = (1000000ULL * now.tv_sec + now.tv_usec) / BUSY_EACH;
    *value_type = 1;
    *count = 0;
    for (unsigned long long n = last - BUSY_SAMPLES + 1; n <= last && *count < room; n++) {
        if (n * BUSY_EACH <= since)
            continue;
        samples[*count].timeStamp = n * BUSY_EACH;
        samples[*count].sampleValue.ull = 0xdead00000000ULL | (n % 101);
        ++*count;
        if (since) /* what it has when it is first asked is of before */
            told(__func__, d, type, 0, "", n % 101);
    }
    return *count ? SUCCESS : NOT_FOUND;
}
#endif

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t d, nvmlMemory_t *memory)
{
    if (is_lost(d))
        return GPU_IS_LOST;
    memory->total = 80ULL << 30;
    memory->used = varying(d, 6ULL << 30);
    memory->free = memory->total - memory->used;
    told(__func__, d, 0, 0, "total", memory->total);
    told(__func__, d, 0, 0, "used", memory->used);
    return SUCCESS;
}

/* A function with one number for an answer; `condition` is the code it returns instead. */
#define NUMBER(name, type, base, condition)                      \
    nvmlReturn_t name(nvmlDevice_t d, type *value)               \
    {                                                            \
        int code = is_lost(d) ? GPU_IS_LOST : (condition);       \
        if (code == SUCCESS) {                                   \
            *value = varying(d, base);                           \
            told(__func__, d, 0, 0, "", *value);                 \
        }                                                        \
        return code;                                             \
    }

NUMBER(nvmlDeviceGetPowerUsage, unsigned int, 250000, d->round == 2 ? UNKNOWN : SUCCESS)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned int, 400000, SUCCESS)
NUMBER(nvmlDeviceGetFanSpeed, unsigned int, 30, d->index == 1 ? NOT_SUPPORTED : SUCCESS)
#ifdef OLD_DRIVER
NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, 0x4, SUCCESS)
#else
NUMBER(nvmlDeviceGetTotalEnergyConsumption, unsigned long long, 1ULL << 40, SUCCESS)
NUMBER(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long, 0x24, SUCCESS)
NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, 0xdead, SUCCESS)
#endif

#define CHOSEN(name, type, base)                                 \
    nvmlReturn_t name(nvmlDevice_t d, int choice, type *value)   \
    {                                                            \
        if (is_lost(d))                                          \
            return GPU_IS_LOST;                                  \
        *value = varying(d, (base) + 1000 * choice);             \
        told(__func__, d, choice, 0, "", *value);                \
        return SUCCESS;                                          \
    }

CHOSEN(nvmlDeviceGetTemperature, unsigned int, 40)
CHOSEN(nvmlDeviceGetClockInfo, unsigned int, 1500)
CHOSEN(nvmlDeviceGetPcieThroughput, unsigned int, 5000000)

#define CODEC(name, base)                                                          \
    nvmlReturn_t name(nvmlDevice_t d, unsigned int *percent, unsigned int *period) \
    {                                                                              \
        if (is_lost(d))                                                            \
            return GPU_IS_LOST;                                                    \
        *percent = varying(d, base);                                               \
        *period = 167000;                                                          \
        told(__func__, d, 0, 0, "", *percent);                                     \
        return SUCCESS;                                                            \
    }

CODEC(nvmlDeviceGetEncoderUtilization, 1)
CODEC(nvmlDeviceGetDecoderUtilization, 2)

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t d, int type, int counter, unsigned long long *errors)
{
    if (is_lost(d))
        return GPU_IS_LOST;
    if (d->index == 0)
        return NOT_SUPPORTED;
    *errors = varying(d, 100 * type + 1000 * counter);
    told(__func__, d, 10 * type + counter, 0, "", *errors);
    return SUCCESS;
}

/* Device 0 has 3 processes and, from round 2, so many that they do not fit, and more in every call until 170. */
static unsigned int processes_of(nvmlDevice_t d)
{
    static unsigned int many = 65;

    if (d->index == 1 || d->round < 2)
        return 3;
    many = many * 2 + 1 < GROWN ? many * 2 + 1 : GROWN;
    return many;
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t d, nvmlProcessUtilizationSample_t *samples,
                                             unsigned int *count, unsigned long long since)
{
    static unsigned long long now = 1700000000000000ULL;
    unsigned int room = *count, there = processes_of(d);

    if (is_lost(d))
        return GPU_IS_LOST;
    if (d->index == 1 && d->round == 1)
        return NOT_FOUND;
    now += 1000;
    *count = there;
    if (!samples || room < there)
        return INSUFFICIENT_SIZE;
    for (unsigned int i = 0; i < there; i++) {
        nvmlProcessUtilizationSample_t *s = &samples[i];

        memset(s, 0, sizeof(*s));
        s->pid = i == 0 ? 1 : FIRST_PID + i;
        s->timeStamp = now + i;
        s->smUtil = varying(d, i % 50);
        s->memUtil = varying(d, i % 40);
        s->encUtil = varying(d, i % 30);
        s->decUtil = varying(d, i % 20);
        if (i == 2) { /* stale: seen before */
            s->timeStamp = since;
        } else if (since) {
            told(__func__, d, 0, s->pid, "smUtil", s->smUtil);
            told(__func__, d, 0, s->pid, "memUtil", s->memUtil);
            told(__func__, d, 0, s->pid, "encUtil", s->encUtil);
            told(__func__, d, 0, s->pid, "decUtil", s->decUtil);
        }
    }
    return SUCCESS;
}

#ifdef OLD_DRIVER
#define COMPUTE_PROCESSES nvmlDeviceGetComputeRunningProcesses_v2
#else
#define COMPUTE_PROCESSES nvmlDeviceGetComputeRunningProcesses_v3
#endif

nvmlReturn_t COMPUTE_PROCESSES(nvmlDevice_t d, unsigned int *count, nvmlProcessInfo_v2_t *infos)
{
    unsigned int room = *count, there = processes_of(d);

    if (is_lost(d))
        return GPU_IS_LOST;
    *count = there;
    if (room < there)
        return INSUFFICIENT_SIZE;
    for (unsigned int i = 0; i < there; i++) {
        infos[i].pid = i == 0 ? 1 : FIRST_PID + i;
        infos[i].usedGpuMemory = i == 1 ? ~0ULL : varying(d, (unsigned long long)i << 30);
        infos[i].gpuInstanceId = infos[i].computeInstanceId = ~0U;
        if (i != 1)
            told("running", d, 0, infos[i].pid, "usedGpuMemory", infos[i].usedGpuMemory);
    }
    return SUCCESS;
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)
{
    *set = (nvmlEventSet_t)&gpus;
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t d, unsigned long long types, nvmlEventSet_t set)
{
    if (types != 8 || set != (nvmlEventSet_t)&gpus)
        return INVALID_ARGUMENT;
    d->events = 1;
    return SUCCESS;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeout)
{
    nvmlDevice_t d = &gpus[1];

    if (set != (nvmlEventSet_t)&gpus || timeout)
        return INVALID_ARGUMENT;
    if (!d->events || d->round < 3 || xids_told >= 2)
        return TIMEOUT;
    *data = (nvmlEventData_t){ .device = d, .eventType = 8, .eventData = 31 + 48 * xids_told++ };
    told("xid", d, 0, 0, "", data->eventData);
    return SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)
{
    return set == (nvmlEventSet_t)&gpus ? SUCCESS : INVALID_ARGUMENT;
}

#ifndef OLD_DRIVER
#include <math.h>
#include <time.h>

#ifdef MIG
static struct nvmlDevice_st mig_devices[3] = { { .index = 1 }, { .index = 1 }, { .index = 2 } }; /* of GPU instance */

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t d, unsigned int *current, unsigned int *pending)
{
    if (d->index == 0)
        return NOT_SUPPORTED;
    *current = *pending = 1;
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t d, unsigned int *count)
{
    *count = 7 * d->index;
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t d, unsigned int index, nvmlDevice_t *mig)
{
    if (d->index == 0 || index > 7)
        return INVALID_ARGUMENT;
    if (index >= 3)
        return NOT_FOUND;
    *mig = &mig_devices[index];
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t mig, unsigned int *id)
{
    if (mig < mig_devices || mig >= mig_devices + 3)
        return INVALID_ARGUMENT;
    *id = mig->index;
    return SUCCESS;
}
#endif

/* What was counted until it was taken. Device 1 is a Hopper, device 0 is too old. */
struct nvmlGpmSample_st {
    nvmlDevice_t device;
    unsigned int instance, number;
    struct timespec taken;
};

static unsigned int samples_taken;

nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t d, nvmlGpmSupport_t *support)
{
    if (support->version != 1)
        return ARGUMENT_VERSION_MISMATCH;
#ifdef EVERY_GPM
    support->isSupportedDevice = 1;
#else
    support->isSupportedDevice = d->index == 1;
#endif
    return SUCCESS;
}

nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *sample)
{
    *sample = calloc(1, sizeof(**sample));
    fprintf(log_file, "nvmlGpmSampleAlloc,1,0,0,,0\n");
    return SUCCESS;
}

nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample)
{
    fprintf(log_file, "nvmlGpmSampleFree,1,0,0,,0\n");
    free(sample);
    return SUCCESS;
}

static nvmlReturn_t take(nvmlDevice_t d, unsigned int instance, nvmlGpmSample_t sample)
{
    if (d->index == 0)
        return NOT_SUPPORTED;
    if (is_lost(d))
        return GPU_IS_LOST;
    sample->device = d;
    sample->instance = instance;
    sample->number = ++samples_taken;
    clock_gettime(CLOCK_MONOTONIC, &sample->taken);
    return SUCCESS;
}

nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t d, nvmlGpmSample_t sample)
{
    return take(d, 0, sample);
}

nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t d, unsigned int instance, nvmlGpmSample_t sample)
{
#ifdef MIG
    return instance == 1 || instance == 2 ? take(d, instance, sample) : INVALID_ARGUMENT;
#else
    (void)d, (void)instance, (void)sample;
    return NOT_SUPPORTED;
#endif
}

/* Percents are quarters; NVLink and PCIe are MiB/s. HMMA and FP16 fail alone, FP64 is nonsense at first. */
nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *get)
{
    nvmlGpmSample_t before = get->sample1, after = get->sample2;
    double seconds;

    if (get->version != 1)
        return ARGUMENT_VERSION_MISMATCH;
    if (!before || !after || before->device != after->device || before->instance != after->instance)
        return INVALID_ARGUMENT;
    seconds = (after->taken.tv_sec - before->taken.tv_sec) + (after->taken.tv_nsec - before->taken.tv_nsec) / 1e9;
    if (seconds <= 0.1)
        return NO_DATA; /* "should be greater than 100ms" */
    for (unsigned int i = 0; i < get->numMetrics; i++) {
        nvmlGpmMetric_t *m = &get->metrics[i];

        m->nvmlReturn = SUCCESS;
        m->value = m->metricId + (after->number % 40) / 4.0;
        m->metricInfo.shortName = m->metricInfo.longName = m->metricInfo.unit = (char *)"";
        switch (m->metricId) {
        case 2: case 3: case 4: case 5: case 10: case 11: case 12: case 20: case 21: case 60: case 61:
            break;
        case 7: case 13:
            m->nvmlReturn = INVALID_ARGUMENT;
            break;
        default:
            m->nvmlReturn = NOT_SUPPORTED;
        }
        if (m->metricId == 11 && after->number == 2)
            m->value = NAN;
        else if (m->nvmlReturn == SUCCESS)
            fprintf(log_file, "%s,1,%u,0,%u,%.4f\n", __func__, m->metricId, after->instance, m->value);
    }
    fflush(log_file);
    return SUCCESS;
}
#endif
