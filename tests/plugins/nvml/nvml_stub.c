/* A small stand-in for NVIDIA's NVML library, for pynvml to load in tests.
 *
 * A machine of 8 GPUs with 40 GB each, numbered 0 to 7 on PCI buses 0x10 to 0x17, four on each of
 * two NUMA nodes. GPU 1 has three MIG devices, GPU 7 is lost: it has its UUID and nothing else.
 * Two links of NVLink join 0-1, 2-3, 4-5 and 6-7, one joins any other two on a NUMA node.
 *
 * The file named by REBIND_NVML_STUB changes that, at any time; one statement a line:
 *
 *     init ERROR             nvmlInit answers with this number
 *     count N                there are N GPUs, at most 8
 *     found GPU              the GPU is not lost
 *     lost GPU [ERROR]       the GPU is lost, or fails with this number
 *     nameless GPU           the GPU is so lost that it has no handle
 *     mig GPU PROFILE...     the GPU is in MIG mode and has these MIG devices
 *     whole GPU              the GPU is not in MIG mode
 *     xid GPU XID [GI CI]    an XID event happens, on the whole GPU or in one of its instances
 *     old                    no profiles in names, no NVLink, no neighbors, no NUMA nodes
 *     no-events              GPUs tell of no events
 *     wait ERROR             waiting for events answers with this number
 *
 * Later lines win. Sizes and numbers are those that pynvml passes to the library.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TIMED_OUT = 10, LOST = 15
};
enum { GPUS = 8, PLACES = 7, LINKS = 4, WHOLE = -1 };

typedef struct { int gpu, place; } Device;
typedef struct {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
} PciInfo;
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct {
  unsigned multiprocessors, copy_engines, decoders, encoders, jpeg, ofa;
  unsigned gpu_slices, compute_slices;
  unsigned long long memory_mib;
} Attributes;
typedef struct {
  Device *device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
} EventData;
typedef struct { int seen, registered[GPUS]; } EventSet;

typedef struct {
  int init, count, old, no_events, wait_error, events;
  int lost[GPUS], nameless[GPUS], mig[GPUS];
  char profiles[GPUS][PLACES][24];
  struct { int gpu, xid, gi, ci; } event; /* The one that was asked for by its number. */
} State;

static Device devices[GPUS], instances[GPUS][PLACES];

static void set_profiles(State *state, int gpu, char *text) {
  state->mig[gpu] = 1;
  memset(state->profiles[gpu], 0, sizeof state->profiles[gpu]);
  int place = 0;
  for (char *word = strtok(text, " \n"); word && place < PLACES; word = strtok(NULL, " \n"))
    snprintf(state->profiles[gpu][place++], 24, "%s", word);
}

static void read_line(State *state, char *line, int wanted_event) {
  char word[16] = "";
  int number = 0, xid = 0, gi = -1, ci = -1, used = 0;
  sscanf(line, "%15s %d%n", word, &number, &used);
  if (!strcmp(word, "init")) state->init = number;
  if (!strcmp(word, "count")) state->count = number;
  if (!strcmp(word, "old")) state->old = 1;
  if (!strcmp(word, "no-events")) state->no_events = 1;
  if (!strcmp(word, "wait")) state->wait_error = number;
  if (number < 0 || number >= GPUS) return;
  if (!strcmp(word, "found")) state->lost[number] = 0;
  if (!strcmp(word, "lost"))
    state->lost[number] = sscanf(line + used, "%d", &xid) == 1 ? xid : LOST;
  if (!strcmp(word, "nameless")) state->nameless[number] = 1;
  if (!strcmp(word, "whole")) state->mig[number] = 0;
  if (!strcmp(word, "mig")) set_profiles(state, number, line + used);
  if (!strcmp(word, "xid")) {
    sscanf(line + used, "%d %d %d", &xid, &gi, &ci);
    if (state->events++ == wanted_event) {
      state->event.gpu = number, state->event.xid = xid;
      state->event.gi = gi, state->event.ci = ci;
    }
  }
}

static State read_state(int wanted_event) {
  State state = {.count = GPUS};
  char line[256], profiles[] = "1g.5gb 1g.5gb 3g.20gb";
  state.lost[7] = LOST;
  set_profiles(&state, 1, profiles);
  const char *path = getenv("REBIND_NVML_STUB");
  FILE *file = path ? fopen(path, "r") : NULL;
  while (file && fgets(line, sizeof line, file)) read_line(&state, line, wanted_event);
  if (file) fclose(file);
  return state;
}

/* What every question about a device begins with. */
static int present(const Device *device, State *state) {
  *state = read_state(-1);
  if (!device) return INVALID_ARGUMENT;
  return state->lost[device->gpu];
}

int nvmlInitWithFlags(unsigned flags) {
  (void)flags;
  for (int gpu = 0; gpu < GPUS; gpu++) {
    devices[gpu] = (Device){gpu, WHOLE};
    for (int place = 0; place < PLACES; place++) instances[gpu][place] = (Device){gpu, place};
  }
  return read_state(-1).init;
}

int nvmlShutdown(void) { return SUCCESS; }

const char *nvmlErrorString(int error) {
  switch (error) {
    case 9: return "Driver Not Loaded";
    case LOST: return "GPU is lost";
    case NOT_SUPPORTED: return "Not Supported";
    default: return "Unknown Error";
  }
}

int nvmlDeviceGetCount_v2(unsigned *count) {
  *count = read_state(-1).count;
  return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device **device) {
  State state = read_state(-1);
  if (index >= (unsigned)state.count) return INVALID_ARGUMENT;
  *device = &devices[index];
  return state.nameless[index] ? LOST : SUCCESS;
}

int nvmlDeviceGetUUID(const Device *device, char *uuid, unsigned size) {
  if (device->place == WHOLE)
    snprintf(uuid, size, "GPU-%08d-aaaa-4bbb-8ccc-0123456789ab", device->gpu);
  else
    snprintf(uuid, size, "MIG-%08d-%04d-4bbb-8ccc-0123456789ab", device->gpu, device->place);
  return SUCCESS;
}

int nvmlDeviceGetHandleByUUID(const char *wanted, Device **device) {
  State state = read_state(-1);
  char uuid[96];
  for (int gpu = 0; gpu < state.count; gpu++) {
    nvmlDeviceGetUUID(&devices[gpu], uuid, sizeof uuid);
    if (strcmp(uuid, wanted)) continue;
    *device = &devices[gpu];
    return state.nameless[gpu] ? LOST : SUCCESS;
  }
  return NOT_FOUND;
}

int nvmlDeviceGetName(const Device *device, char *name, unsigned size) {
  State state;
  int error = present(device, &state);
  if (error) return error;
  if (device->place == WHOLE || state.old)
    snprintf(name, size, "NVIDIA A100-SXM4-40GB");
  else
    snprintf(name, size, "NVIDIA A100-SXM4-40GB MIG %s",
             state.profiles[device->gpu][device->place]);
  return SUCCESS;
}

static void pci_of(int gpu, PciInfo *pci) {
  memset(pci, 0, sizeof *pci);
  pci->bus = 0x10 + gpu;
  snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:%02X:00.0", pci->bus);
}

int nvmlDeviceGetPciInfo_v3(const Device *device, PciInfo *pci) {
  State state;
  int error = present(device, &state);
  if (!error) pci_of(device->gpu, pci);
  return error;
}

int nvmlDeviceGetMinorNumber(const Device *device, unsigned *minor) {
  State state;
  *minor = device->gpu;
  return present(device, &state);
}

int nvmlDeviceGetMemoryInfo(const Device *device, Memory *memory) {
  State state;
  *memory = (Memory){42505273344ULL, 42505273344ULL, 0};
  return present(device, &state);
}

int nvmlDeviceGetMigMode(const Device *device, unsigned *current, unsigned *pending) {
  State state;
  int error = present(device, &state);
  *current = *pending = state.mig[device->gpu];
  return error;
}

int nvmlDeviceGetMaxMigDeviceCount(const Device *device, unsigned *count) {
  State state;
  *count = PLACES;
  return present(device, &state);
}

int nvmlDeviceGetMigDeviceHandleByIndex(const Device *device, unsigned place, Device **mig) {
  State state;
  int error = present(device, &state);
  if (error) return error;
  if (place >= PLACES || !state.profiles[device->gpu][place][0]) return NOT_FOUND;
  *mig = &instances[device->gpu][place];
  return SUCCESS;
}

int nvmlDeviceGetGpuInstanceId(const Device *device, unsigned *id) {
  State state;
  *id = device->place + 7;
  return present(device, &state);
}

int nvmlDeviceGetComputeInstanceId(const Device *device, unsigned *id) {
  State state;
  *id = 0;
  return present(device, &state);
}

int nvmlDeviceGetAttributes_v2(const Device *device, Attributes *attributes) {
  State state;
  int error = present(device, &state), compute = 0, gpu = 0, gigabytes = 0;
  if (error) return error;
  const char *profile = state.profiles[device->gpu][device->place];
  if (sscanf(profile, "%dc.%dg.%dgb", &compute, &gpu, &gigabytes) != 3) {
    sscanf(profile, "%dg.%dgb", &gpu, &gigabytes);
    compute = gpu;
  }
  memset(attributes, 0, sizeof *attributes);
  attributes->gpu_slices = gpu, attributes->compute_slices = compute;
  /* As an A100 has it: a little less than the profile's name says. */
  attributes->memory_mib = gigabytes == 5 ? 4864 : gigabytes == 10 ? 9984
                         : gigabytes == 20 ? 20096 : 40192;
  return SUCCESS;
}

int nvmlDeviceGetMemoryAffinity(const Device *device, unsigned words, unsigned long *set,
                                unsigned scope) {
  State state;
  int error = present(device, &state);
  (void)scope;
  if (error || state.old) return error ? error : NOT_SUPPORTED;
  memset(set, 0, words * sizeof *set);
  set[0] = 1UL << (device->gpu / 4);
  return SUCCESS;
}

int nvmlDeviceGetTopologyCommonAncestor(const Device *one, const Device *other, unsigned *level) {
  State state;
  int error = present(one, &state);
  if (error || state.old) return error ? error : NOT_SUPPORTED;
  *level = one->gpu / 2 == other->gpu / 2 ? 10 : one->gpu / 4 == other->gpu / 4 ? 40 : 50;
  return SUCCESS;
}

int nvmlDeviceGetP2PStatus(const Device *one, const Device *other, unsigned index,
                           unsigned *status) {
  State state;
  int error = present(one, &state);
  (void)index;
  if (error || state.old) return error ? error : NOT_SUPPORTED;
  *status = one->gpu / 4 == other->gpu / 4 ? 0 : 5;
  return SUCCESS;
}

/* Links 0 and 1 lead to the other GPU of the pair, 2 and 3 to the other pair of the NUMA node. */
static int peer_of(int gpu, unsigned link) {
  return link < 2 ? gpu ^ 1 : (gpu ^ 2) ^ (int)(link - 2);
}

int nvmlDeviceGetNvLinkState(const Device *device, unsigned link, unsigned *active) {
  State state;
  int error = present(device, &state);
  if (error || state.old) return error ? error : NOT_SUPPORTED;
  *active = 1;
  return link < LINKS ? SUCCESS : INVALID_ARGUMENT;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(const Device *device, unsigned link, PciInfo *pci) {
  State state;
  int error = present(device, &state);
  if (!error) pci_of(peer_of(device->gpu, link), pci);
  return error;
}

int nvmlEventSetCreate(EventSet **set) {
  *set = calloc(1, sizeof **set);
  (*set)->seen = read_state(-1).events; /* What happened before is not told. */
  return SUCCESS;
}

int nvmlDeviceRegisterEvents(const Device *device, unsigned long long types, EventSet *set) {
  State state;
  int error = present(device, &state);
  (void)types;
  if (error || state.no_events) return error ? error : NOT_SUPPORTED;
  set->registered[device->gpu] = 1;
  return SUCCESS;
}

int nvmlEventSetWait_v2(EventSet *set, EventData *data, unsigned timeout_ms) {
  for (unsigned waited_ms = 0; waited_ms <= timeout_ms; waited_ms += 2) {
    State state = read_state(set->seen);
    if (state.wait_error) return state.wait_error;
    if (state.events > set->seen) {
      set->seen++;
      if (!set->registered[state.event.gpu]) continue;
      *data = (EventData){&devices[state.event.gpu], 8, state.event.xid, state.event.gi,
                          state.event.ci};
      return SUCCESS;
    }
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  }
  return TIMED_OUT;
}

int nvmlEventSetFree(EventSet *set) {
  free(set);
  return SUCCESS;
}
