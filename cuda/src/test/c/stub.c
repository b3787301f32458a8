/*
 * A driver without a device, for tests of the Java side: memory of a device is memory of the host,
 * and a launch calls back. It checks what a driver checks: handles, bounds, the current context of
 * the thread. Work on a stream is done at once, or, if the test wants it so, only when something
 * waits for it: then a caller that does not wait sees old bytes. Written from NVIDIA's documentation of the CUDA driver API; with -DCUDA_HEADER the
 * compiler compares the prototypes with NVIDIA's own.
 *
 * The functions stub_... at the end are for the test: what the machine has, which call fails, what
 * was called, what was not given back.
 */
#include "stub.h"

#include "errors.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 4, DEPTH = 16, LOG_BYTES = 1 << 16, PAGE = 256 };
enum { MODULE = 1, FUNCTION, STREAM, EVENT, DEVICE_MEMORY, HOST_MEMORY, KINDS };

/* A kernel's text and name, its sizes and the bytes of its parameters. Returns a CUresult. */
typedef int launch_t(const char *ptx, const char *kernel, unsigned gx, unsigned gy, unsigned gz,
                     unsigned bx, unsigned by, unsigned bz, unsigned shared, const void *parameters,
                     size_t bytes);

typedef struct device {
  int major, minor, retained, error;
  size_t memory;
} device;

/* Whatever the driver hands out. Its address is its handle; memory has an address of its own. */
typedef struct object {
  struct object *next, *module;
  device *device;
  int kind;
  char *text, *memory;
  size_t bytes;
  void *context; /* of memory */
  size_t time; /* of an event: when it was recorded, 0 if it was not */
  CUstream stream;
  int shared; /* of a function: the most that a block may have */
} object;

/*
 * Work on a stream: a kernel, a copy without one, or waiting for what another stream was given
 * before a time.
 */
typedef struct work {
  struct work *next;
  device *device;
  CUstream stream, awaited;
  size_t time, until;
  void *to, *parameters;
  const void *from;
  char *ptx, *kernel;
  unsigned grid[3], block[3], shared;
  size_t bytes;
  int error, running;
} work;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER; /* some work is */
static device devices[DEVICES];
static object *objects;
static work *queue;
static int device_count, driver_version, initialised, echo, fail_code, fail_after, fail_late, lazy;
static char fail_function[64], calls[LOG_BYTES];
static size_t logged, now; /* how much work and how many records there were */
static int pushed; /* contexts on the stacks of all threads */
static launch_t *on_launch;
static _Thread_local device *stack[DEPTH];
static _Thread_local int depth;

static device *current(void) { return depth ? stack[depth - 1] : NULL; }

static int is_sticky(int code) {
  return code == 4 || code == 214 || code == 220 || code == 226 || code == 700 || code == 702 ||
         code == 709 || code == 710 || (code >= 714 && code <= 719) || code == 721 ||
         code == 810 || code == 911;
}

/*
 * Writes the call down; says whether that is all, and with which result. The compiler compares the
 * format with the types of the arguments, so the format says the types: a test reads it.
 */
__attribute__((format(printf, 3, 4))) static int enter(int *result, const char *function, const char *format, ...) {
  pthread_mutex_lock(&lock);
  va_list arguments;
  va_start(arguments, format);
  if (logged < LOG_BYTES - 512) {
    if (echo) logged += sprintf(calls + logged, "%s\n", format);
    logged += sprintf(calls + logged, "%s(", function);
    logged += vsnprintf(calls + logged, 400, format, arguments);
    logged += sprintf(calls + logged, ")\n");
  }
  va_end(arguments);
  *result = 0;
  if (!echo && strcmp(function, fail_function) == 0 && fail_after-- == 0) {
    *result = fail_code;
    fail_function[0] = 0;
    if (is_sticky(fail_code) && current()) current()->error = fail_code;
  }
  if (echo || *result) {
    pthread_mutex_unlock(&lock);
    return 1;
  }
  return 0;
}

static int leave(int result) {
  pthread_mutex_unlock(&lock);
  return result;
}

/* The most shared memory that a block of an H200 may ask for. */
#define MOST_SHARED (227 << 10)

#define ENTER(format, ...) \
  do { \
    int result_; \
    if (enter(&result_, __func__, format, __VA_ARGS__)) return (CUresult)result_; \
  } while (0)
#define RETURN(code) return (CUresult)leave(code)
/* Of functions that need a context: an error of a kernel is returned by all calls after it. */
#define NEED_CONTEXT() \
  do { \
    if (!initialised) RETURN(3); \
    if (!current() || !current()->retained) RETURN(201); \
    if (current()->error) RETURN(current()->error); \
  } while (0)

static object *add(int kind, size_t bytes) {
  object *o = calloc(1, sizeof *o);
  o->kind = kind;
  o->device = current();
  o->context = o->device;
  o->next = objects;
  objects = o;
  if (bytes) {
    o->memory = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
    memset(o->memory, 0xA5, bytes); /* memory of a device is not zeroed */
    o->bytes = bytes;
  }
  return o;
}

static object *find(int kind, const void *handle) {
  for (object *o = objects; o; o = o->next)
    if (o->kind == kind && (kind >= DEVICE_MEMORY ? (void *)o->memory : (void *)o) == handle)
      return o;
  return NULL;
}

static int drop(int kind, const void *handle) {
  object *found = find(kind, handle);
  if (!found) return kind >= DEVICE_MEMORY ? 1 : 400;
  if (found->device != current() && kind != HOST_MEMORY) return 201;
  object **from = &objects;
  while (*from) {
    object *o = *from;
    if (o == found || o->module == found) {
      *from = o->next;
      free(o->memory);
      free(o->text);
      free(o);
    } else {
      from = &o->next;
    }
  }
  return 0;
}

/* The allocation that has these bytes. */
static object *holding(CUdeviceptr address, size_t bytes) {
  for (object *o = objects; o; o = o->next) {
    CUdeviceptr start = (CUdeviceptr)(size_t)o->memory;
    if (o->memory && address >= start && bytes <= o->bytes && address - start <= o->bytes - bytes)
      return o;
  }
  return NULL;
}

static int is_device_memory(CUdeviceptr address, size_t bytes) {
  object *o = holding(address, bytes);
  return o && o->kind == DEVICE_MEMORY && o->device == current();
}

static size_t used(const device *of) {
  size_t sum = 0;
  for (object *o = objects; o; o = o->next)
    if (o->kind == DEVICE_MEMORY && o->device == of) sum += o->bytes;
  return sum;
}

/* 0, 1 and 2 are streams that every context has. */
static int check_stream(CUstream stream) {
  if ((size_t)stream <= 2) return 0;
  object *o = find(STREAM, stream);
  return !o ? 400 : o->device == current() ? 0 : 201;
}

static int is_memory_of(const device *of, const void *address, size_t bytes) {
  object *o = holding((CUdeviceptr)(size_t)address, bytes);
  return o && o->kind == DEVICE_MEMORY && o->device == of;
}

static void finish_before(const device *on, CUstream stream, size_t time);

/* Does work, with the lock held but while Java runs a kernel; an error stays with the context. */
static void perform(work *w) {
  int error = w->device->error ? w->device->error : w->error;
  if (w->until) {
    finish_before(w->device, w->awaited, w->until);
    return;
  }
  if (!error && w->kernel && on_launch) {
    pthread_mutex_unlock(&lock);
    error = on_launch(w->ptx, w->kernel, w->grid[0], w->grid[1], w->grid[2], w->block[0],
                      w->block[1], w->block[2], w->shared, w->parameters, w->bytes);
    pthread_mutex_lock(&lock);
  } else if (!error && !w->kernel) {
    /* One side at least is of the device, and may have been freed meanwhile. */
    if (is_memory_of(w->device, w->to, w->bytes) || is_memory_of(w->device, w->from, w->bytes))
      memmove(w->to, w->from, w->bytes);
    else
      error = 700;
  }
  w->device->error = error;
}

static void forget(work *w) {
  work **from = &queue;
  while (*from != w) from = &(*from)->next;
  *from = w->next;
  free(w->parameters);
  free(w->ptx);
  free(w->kernel);
  free(w);
}

/*
 * Does what was started in a context before a time, on one stream or, without one, on all; waits
 * for others.
 */
static void finish_before(const device *on, CUstream stream, size_t time) {
  for (;;) {
    work *w = queue;
    while (w && (w->device != on || (stream && w->stream != stream))) w = w->next;
    if (!w || w->time >= time) return;
    if (w->running) {
      pthread_cond_wait(&done, &lock);
    } else {
      w->running = 1;
      perform(w);
      forget(w);
      pthread_cond_broadcast(&done);
    }
  }
}

static void finish(const device *on, CUstream stream) { finish_before(on, stream, (size_t)-1); }

static void start(work w) {
  work **last = &queue;
  while (*last) last = &(*last)->next;
  *last = malloc(sizeof w);
  w.next = NULL;
  w.time = ++now;
  w.device = current();
  **last = w;
  if (!lazy) finish(w.device, w.stream);
}

CUresult cuInit(unsigned int flags) {
  ENTER("%u", flags);
  if (device_count == 0) RETURN(100);
  initialised = 1;
  RETURN(0);
}

CUresult cuDriverGetVersion(int *version) {
  ENTER("%p", (void *)version);
  *version = driver_version;
  RETURN(0);
}

static const char *name_of(int error) {
  switch (error) {
    case 0: return "CUDA_SUCCESS";
#define NAME(number, name) case number: return "CUDA_ERROR_" #name;
    ERRORS(NAME)
  }
  return NULL;
}

CUresult cuGetErrorName(CUresult error, const char **text) {
  ENTER("%d, %p", (int)error, (void *)text);
  *text = name_of(error);
  RETURN(*text ? 0 : 1);
}

/* NVIDIA's texts are others. */
CUresult cuGetErrorString(CUresult error, const char **text) {
  ENTER("%d, %p", (int)error, (void *)text);
  static _Thread_local char meaning[64];
  snprintf(meaning, sizeof meaning, "meaning of %d", (int)error);
  *text = name_of(error) ? meaning : NULL;
  RETURN(*text ? 0 : 1);
}

CUresult cuDeviceGetCount(int *count) {
  ENTER("%p", (void *)count);
  if (!initialised) RETURN(3);
  *count = device_count;
  RETURN(0);
}

#define NEED_DEVICE(number) \
  do { \
    if (!initialised) RETURN(3); \
    if (number < 0 || number >= device_count) RETURN(101); \
  } while (0)

CUresult cuDeviceGet(CUdevice *handle, int ordinal) {
  ENTER("%p, %d", (void *)handle, ordinal);
  NEED_DEVICE(ordinal);
  *handle = ordinal;
  RETURN(0);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice number) {
  ENTER("%p, %d, %d", (void *)name, length, number);
  NEED_DEVICE(number);
  snprintf(name, length, "Stub GPU %c", 'A' + number);
  RETURN(0);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice number) {
  ENTER("%p, %d, %d", (void *)value, (int)attribute, number);
  NEED_DEVICE(number);
  switch ((int)attribute) {
    case 75: *value = devices[number].major; break;
    case 76: *value = devices[number].minor; break;
    /* Shared memory of an H200's multiprocessor, and the most that a block may ask for. */
    case 81: *value = 228 << 10; break;
    case 97: *value = MOST_SHARED; break;
    default: RETURN(1);
  }
  RETURN(0);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice number) {
  ENTER("%p, %d", (void *)bytes, number);
  NEED_DEVICE(number);
  *bytes = devices[number].memory;
  RETURN(0);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice number) {
  ENTER("%p, %d", (void *)context, number);
  NEED_DEVICE(number);
  devices[number].retained++;
  *context = (CUcontext)&devices[number];
  RETURN(0);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice number) {
  ENTER("%d", number);
  NEED_DEVICE(number);
  if (!devices[number].retained) RETURN(201);
  devices[number].retained--;
  RETURN(0);
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  ENTER("%p", (void *)context);
  if (depth == DEPTH) RETURN(1);
  device *of = (device *)context;
  if (of < devices || of >= devices + device_count || !of->retained) RETURN(201);
  stack[depth++] = of;
  pushed++;
  RETURN(0);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  ENTER("%p", (void *)context);
  if (depth == 0) RETURN(201);
  *context = (CUcontext)stack[--depth];
  pushed--;
  RETURN(0);
}

CUresult cuCtxSynchronize(void) {
  ENTER("%s", "");
  NEED_CONTEXT();
  finish(current(), NULL);
  RETURN(current()->error);
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
  ENTER("%p, %p", (void *)available, (void *)total);
  NEED_CONTEXT();
  *total = current()->memory;
  *available = *total - used(current());
  RETURN(0);
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  ENTER("%p, %zu", (void *)address, bytes);
  NEED_CONTEXT();
  if (bytes == 0) RETURN(1);
  if (bytes > current()->memory - used(current())) RETURN(2);
  *address = (CUdeviceptr)(size_t)add(DEVICE_MEMORY, bytes)->memory;
  RETURN(0);
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  ENTER("0x%llx", address);
  NEED_CONTEXT();
  RETURN(drop(DEVICE_MEMORY, (void *)(size_t)address));
}

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned int flags) {
  ENTER("%p, %zu, %u", (void *)address, bytes, flags);
  NEED_CONTEXT();
  if (bytes == 0) RETURN(1);
  *address = add(HOST_MEMORY, bytes)->memory;
  RETURN(0);
}

CUresult cuMemFreeHost(void *address) {
  ENTER("%p", address);
  NEED_CONTEXT();
  RETURN(drop(HOST_MEMORY, address));
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address) {
  ENTER("%p, %d, 0x%llx", data, (int)attribute, address);
  object *o = holding(address, 1);
  if (!o) RETURN(1);
  switch ((int)attribute) {
    case 1: *(void **)data = o->context; break;
    case 2: *(unsigned *)data = o->kind == DEVICE_MEMORY ? 2 : 1; break;
    case 9: *(int *)data = (int)(o->device - devices); break;
    default: RETURN(1);
  }
  RETURN(0);
}

/* Copies without a stream wait for all streams. */
static int copy(void *to, const void *from, size_t bytes, CUdeviceptr device_side) {
  if (!is_device_memory(device_side, bytes)) return 1;
  finish(current(), NULL);
  if (current()->error) return current()->error;
  memmove(to, from, bytes);
  return 0;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  ENTER("0x%llx, %p, %zu", to, from, bytes);
  NEED_CONTEXT();
  RETURN(copy((void *)(size_t)to, from, bytes, to));
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  ENTER("%p, 0x%llx, %zu", to, from, bytes);
  NEED_CONTEXT();
  RETURN(copy(to, (void *)(size_t)from, bytes, from));
}

#define NEED_STREAM(stream) \
  do { \
    NEED_CONTEXT(); \
    int bad_ = check_stream(stream); \
    if (bad_) RETURN(bad_); \
  } while (0)

static int start_copy(void *to, const void *from, size_t bytes, CUstream stream,
                      CUdeviceptr device_side) {
  if (!is_device_memory(device_side, bytes)) return 1;
  start((work){.to = to, .from = from, .bytes = bytes, .stream = stream});
  return 0;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  ENTER("0x%llx, %p, %zu, %p", to, from, bytes, (void *)stream);
  NEED_STREAM(stream);
  RETURN(start_copy((void *)(size_t)to, from, bytes, stream, to));
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ENTER("%p, 0x%llx, %zu, %p", to, from, bytes, (void *)stream);
  NEED_STREAM(stream);
  RETURN(start_copy(to, (void *)(size_t)from, bytes, stream, from));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ENTER("0x%llx, 0x%llx, %zu, %p", to, from, bytes, (void *)stream);
  NEED_STREAM(stream);
  if (!is_device_memory(from, bytes)) RETURN(1);
  RETURN(start_copy((void *)(size_t)to, (void *)(size_t)from, bytes, stream, to));
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags) {
  ENTER("%p, %u", (void *)stream, flags);
  NEED_CONTEXT();
  *stream = (CUstream)add(STREAM, 0);
  RETURN(0);
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
  ENTER("%p, %p", (void *)stream, (void *)context);
  NEED_CONTEXT();
  object *o = find(STREAM, stream);
  if (!o && (size_t)stream > 2) RETURN(400);
  *context = (CUcontext)(o ? o->device : current());
  RETURN(0);
}

CUresult cuStreamSynchronize(CUstream stream) {
  ENTER("%p", (void *)stream);
  NEED_STREAM(stream);
  finish(current(), stream);
  RETURN(current()->error);
}

/* What was recorded when this is called counts; without, there is nothing to wait for. */
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  ENTER("%p, %p, %u", (void *)stream, (void *)event, flags);
  NEED_STREAM(stream);
  object *o = find(EVENT, event);
  if (!o) RETURN(400);
  if (o->time) start((work){.stream = stream, .awaited = o->stream, .until = o->time});
  RETURN(0);
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  ENTER("%p", (void *)stream);
  NEED_CONTEXT();
  RETURN(drop(STREAM, stream));
}

CUresult cuEventCreate(CUevent *event, unsigned int flags) {
  ENTER("%p, %u", (void *)event, flags);
  NEED_CONTEXT();
  *event = (CUevent)add(EVENT, 0);
  RETURN(0);
}

/* The time of an event is the number of events and of work before it. */
CUresult cuEventRecord(CUevent event, CUstream stream) {
  ENTER("%p, %p", (void *)event, (void *)stream);
  NEED_STREAM(stream);
  object *o = find(EVENT, event);
  if (!o || o->device != current()) RETURN(400);
  o->time = ++now;
  o->stream = stream;
  RETURN(0);
}

CUresult cuEventSynchronize(CUevent event) {
  ENTER("%p", (void *)event);
  NEED_CONTEXT();
  object *o = find(EVENT, event);
  if (!o) RETURN(400);
  finish_before(current(), o->stream, o->time);
  RETURN(current()->error);
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
  ENTER("%p, %p, %p", (void *)milliseconds, (void *)from, (void *)to);
  NEED_CONTEXT();
  object *a = find(EVENT, from), *b = find(EVENT, to);
  if (!a || !b || !a->time || !b->time || a->device != b->device) RETURN(400);
  *milliseconds = (float)b->time - (float)a->time + 0.5f;
  RETURN(0);
}

CUresult cuEventDestroy_v2(CUevent event) {
  ENTER("%p", (void *)event);
  NEED_CONTEXT();
  RETURN(drop(EVENT, event));
}

/* The compiler of this driver only looks for the first words of a module. */
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count,
                            CUjit_option *options, void **values) {
  ENTER("%p, %p, %u, %p, %p", (void *)module, image, count, (void *)options, (void *)values);
  NEED_CONTEXT();
  if (!strstr(image, ".version") || !strstr(image, ".target")) {
    char *log = NULL;
    size_t size = 0;
    for (unsigned i = 0; i < count; i++) {
      if ((int)options[i] == 5) log = values[i];
      if ((int)options[i] == 6) size = (size_t)values[i];
    }
    if (log) snprintf(log, size, "ptxas application, line 1; fatal: no .version\nptxas fatal\n");
    RETURN(218);
  }
  object *o = add(MODULE, 0);
  o->text = strdup(image);
  *module = (CUmodule)o;
  RETURN(0);
}

CUresult cuModuleUnload(CUmodule module) {
  ENTER("%p", (void *)module);
  NEED_CONTEXT();
  RETURN(drop(MODULE, module));
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  ENTER("%p, %p, %p", (void *)function, (void *)module, (const void *)name);
  NEED_CONTEXT();
  object *m = find(MODULE, module);
  if (!m) RETURN(400);
  char entry[512];
  snprintf(entry, sizeof entry, ".entry %s(", name);
  if (!strstr(m->text, entry)) RETURN(500);
  object *o = add(FUNCTION, 0);
  o->module = m;
  o->text = strdup(name);
  o->shared = 48 << 10;
  *function = (CUfunction)o;
  RETURN(0);
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  ENTER("%p, %d, %p", (void *)value, (int)attribute, (void *)function);
  NEED_CONTEXT();
  if (!find(FUNCTION, function)) RETURN(400);
  switch ((int)attribute) {
    case 0: *value = 1024; break;
    case 3: *value = 16; break;
    case 4: *value = 32; break;
    default: RETURN(1);
  }
  RETURN(0);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  ENTER("%p, %d, %d", (void *)function, (int)attribute, value);
  NEED_CONTEXT();
  object *o = find(FUNCTION, function);
  if (!o) RETURN(400);
  if ((int)attribute != 8 || value < 0 || value > MOST_SHARED) RETURN(1);
  o->shared = value;
  RETURN(0);
}

#ifndef WITHOUT_LAUNCH
static int buffer(void **extra, void **parameters, size_t *bytes) {
  *parameters = NULL;
  *bytes = 0;
  for (; extra && *extra; extra += 2) {
    if (*extra == (void *)1) *parameters = extra[1];
    else if (*extra == (void *)2) *bytes = *(size_t *)extra[1];
    else return 1;
  }
  return 0;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz,
                        unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
                        CUstream stream, void **values, void **extra) {
  ENTER("%p, %u, %u, %u, %u, %u, %u, %u, %p, %p, %p", (void *)function, gx, gy, gz, bx, by, bz,
        shared, (void *)stream, (void *)values, (void *)extra);
  NEED_STREAM(stream);
  object *o = find(FUNCTION, function);
  void *parameters;
  size_t bytes;
  if (!o) RETURN(400);
  if (o->device != current()) RETURN(201);
  if (!gx || !gy || !gz || !bx || !by || !bz || values || buffer(extra, &parameters, &bytes))
    RETURN(1);
  if (bx * by * bz > 1024) RETURN(701);
  if (shared > (unsigned)o->shared) RETURN(1);
  void *copied = malloc(bytes ? bytes : 1);
  if (bytes) memcpy(copied, parameters, bytes);
  int error = fail_late;
  fail_late = 0;
  /* The device works beside the processor: its error is seen by the next call. */
  start((work){.ptx = strdup(o->module->text),
               .kernel = strdup(o->text),
               .grid = {gx, gy, gz},
               .block = {bx, by, bz},
               .shared = shared,
               .parameters = copied,
               .bytes = bytes,
               .stream = stream,
               .error = error});
  RETURN(0);
}
#endif

/* One device of a new kind, and a driver of today; nothing allocated, nothing written down. */
void stub_reset(void) {
  pthread_mutex_lock(&lock);
  while (objects) {
    object *o = objects;
    objects = o->next;
    free(o->memory);
    free(o->text);
    free(o);
  }
  for (int i = 0; i < DEVICES; i++) devices[i] = (device){9, 0, 0, 0, (size_t)1 << 30};
  device_count = 1;
  driver_version = 12040;
  initialised = echo = fail_late = lazy = 0;
  while (queue) forget(queue);
  fail_function[0] = calls[0] = 0;
  logged = now = 0;
  pushed = 0;
  on_launch = NULL;
  pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void begin(void) { stub_reset(); }

void stub_devices(int count) { device_count = count; }

void stub_device(int index, int major, int minor, size_t memory) {
  devices[index].major = major;
  devices[index].minor = minor;
  devices[index].memory = memory;
}

void stub_driver_version(int version) { driver_version = version; }

/* Functions only write down what they were called with. */
void stub_echo(int on) { echo = on; }

/* A call of a function, the first for 0, returns an error; a fatal one is kept by the context. */
void stub_fail(const char *function, int after, int code) {
  snprintf(fail_function, sizeof fail_function, "%s", function);
  fail_after = after;
  fail_code = code;
}

/* Work on a stream is done when something waits for it, and not before. */
void stub_lazy(int on) { lazy = on; }

/* The next kernel fails; calls after its launch see the error. */
void stub_fail_kernel(int code) { fail_late = code; }

void stub_on_launch(launch_t *callback) { on_launch = callback; }

const char *stub_calls(void) { return calls; }

void stub_forget_calls(void) {
  pthread_mutex_lock(&lock);
  calls[0] = 0;
  logged = 0;
  pthread_mutex_unlock(&lock);
}

/* What was not given back, in words; nothing if all was. */
const char *stub_leaks(void) {
  static char text[256];
  static const char *names[] = {"", "modules", "functions", "streams", "events",
                                "device memory", "pinned memory"};
  size_t n = 0;
  text[0] = 0;
  pthread_mutex_lock(&lock);
  for (int kind = 1; kind < KINDS; kind++) {
    int count = 0;
    for (object *o = objects; o; o = o->next) count += o->kind == kind;
    if (count) n += sprintf(text + n, "%s: %d ", names[kind], count);
  }
  for (int i = 0; i < DEVICES; i++)
    if (devices[i].retained) n += sprintf(text + n, "context %d: %d ", i, devices[i].retained);
  if (pushed) n += sprintf(text + n, "contexts of threads: %d ", pushed);
  pthread_mutex_unlock(&lock);
  return text;
}

/* The allocation of a device that holds an address: its bytes and start; 0 if there is none. */
size_t stub_allocation(CUdeviceptr address, CUdeviceptr *start) {
  pthread_mutex_lock(&lock);
  object *o = holding(address, 1);
  size_t bytes = o && o->kind == DEVICE_MEMORY ? o->bytes : 0;
  if (bytes) *start = (CUdeviceptr)(size_t)o->memory;
  pthread_mutex_unlock(&lock);
  return bytes;
}

/* From now on memory is of another context of its device; of none for a null. */
void stub_memory_of(CUdeviceptr address, void *context) {
  pthread_mutex_lock(&lock);
  object *o = holding(address, 1);
  if (o) o->context = context;
  pthread_mutex_unlock(&lock);
}

/* Contexts on the stack of this thread. */
int stub_depth(void) { return depth; }
