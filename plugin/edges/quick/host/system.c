/* Calls of the kernel, one function each and no rules: what is done with them is TypeScript. */
#include "system.h"
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALL(name) static JSValue name(JSContext *context, JSValueConst self, int count, JSValueConst *values)
#define UNUSED (void)self, (void)count

static JSValue outcome(JSContext *context, long result) {
  return JS_NewInt64(context, result < 0 ? -errno : result);
}

static JSValue failed(JSContext *context, int error) { return JS_NewInt32(context, -error); }

static int integer(JSContext *context, JSValueConst value) {
  int32_t number = 0;
  if (JS_ToInt32(context, &number, value)) JS_FreeValue(context, JS_GetException(context));
  return number;
}

static double decimal(JSContext *context, JSValueConst value) {
  double number = 0;
  if (JS_ToFloat64(context, &number, value)) JS_FreeValue(context, JS_GetException(context));
  return number;
}

/* A text as C takes it, to be freed; NULL and errno where there is no memory, or a NUL in it would cut it short. */
static const char *c_string(JSContext *context, JSValueConst value) {
  size_t length;
  const char *text = JS_ToCStringLen(context, &length, value);
  if (!text) {
    JS_FreeValue(context, JS_GetException(context));
    errno = ENOMEM;
  } else if (strlen(text) != length) {
    JS_FreeCString(context, text);
    text = NULL;
    errno = EINVAL;
  }
  return text;
}

/* Part of a Uint8Array, from an offset on: NULL where the value is none or the offset is beyond its end. */
static uint8_t *bytes_from(JSContext *context, JSValueConst value, JSValueConst offset, size_t *size) {
  uint8_t *bytes = JS_GetUint8Array(context, size, value);
  if (!bytes) JS_FreeValue(context, JS_GetException(context));
  int from = integer(context, offset);
  if (!bytes || from < 0 || (size_t)from > *size) return NULL;
  *size -= (size_t)from;
  return bytes + from;
}

/* ---- Text ---- */

/* Length of the valid UTF-8 sequence at a place; 0 and how many bytes to replace as one where there is none (WHATWG). */
static int sequence(const uint8_t *at, size_t left, int *replaced, uint32_t *point) {
  *replaced = 1;
  if (*at < 0x80) return *point = *at, 1;
  int more = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : 1;
  if (*at < 0xc2 || *at > 0xf4) return 0;
  uint8_t low = *at == 0xe0 ? 0xa0 : *at == 0xf0 ? 0x90 : 0x80;
  uint8_t high = *at == 0xed ? 0x9f : *at == 0xf4 ? 0x8f : 0xbf;
  *point = *at & (0x3f >> more);
  for (int nth = 1; nth <= more; nth++) {
    if ((size_t)nth >= left || at[nth] < low || at[nth] > high) return 0;
    *point = *point << 6 | (at[nth] & 0x3f);
    *replaced = nth + 1;
    low = 0x80;
    high = 0xbf;
  }
  return more + 1;
}

static JSValue text_of(JSContext *context, const uint8_t *bytes, size_t size) {
  int replaced;
  uint32_t point;
  size_t at = 0;
  for (int length; at < size && (length = sequence(bytes + at, size - at, &replaced, &point)); at += (size_t)length);
  if (at == size) return JS_NewStringLen(context, (const char *)bytes, size);
  uint16_t *units = js_malloc(context, size * sizeof *units);
  if (!units) return JS_EXCEPTION;
  size_t written = 0;
  for (at = 0; at < size;) {
    int length = sequence(bytes + at, size - at, &replaced, &point);
    at += (size_t)(length ? length : replaced);
    if (!length) point = 0xfffd;
    if (point < 0x10000) {
      units[written++] = (uint16_t)point;
    } else {
      units[written++] = (uint16_t)(0xd7c0 + (point >> 10));
      units[written++] = (uint16_t)(0xdc00 | (point & 0x3ff));
    }
  }
  JSValue text = JS_NewStringUTF16(context, units, written);
  js_free(context, units);
  return text;
}

CALL(decode) {
  UNUSED;
  size_t size;
  const uint8_t *bytes = bytes_from(context, values[0], values[1], &size);
  size_t length = (size_t)integer(context, values[2]);
  return bytes ? text_of(context, bytes, length < size ? length : size) : failed(context, EINVAL);
}

CALL(encode) {
  UNUSED;
  size_t size;
  const char *text = JS_ToCStringLen(context, &size, values[0]);
  if (!text) return JS_EXCEPTION;
  JSValue bytes = JS_NewUint8ArrayCopy(context, (const uint8_t *)text, size);
  JS_FreeCString(context, text);
  return bytes;
}

CALL(byte_length) {
  UNUSED;
  size_t size;
  const char *text = JS_ToCStringLen(context, &size, values[0]);
  if (!text) return JS_EXCEPTION;
  JS_FreeCString(context, text);
  return JS_NewInt64(context, (int64_t)size);
}

CALL(errno_name) {
  UNUSED;
  const char *name = strerrorname_np(integer(context, values[0]));
  return JS_NewString(context, name ? name : "EUNKNOWN");
}

CALL(errno_text) {
  UNUSED;
  return JS_NewString(context, strerror(integer(context, values[0])));
}

CALL(signal_name) {
  UNUSED;
  char name[32];
  const char *abbreviation = sigabbrev_np(integer(context, values[0]));
  snprintf(name, sizeof name, "SIG%s", abbreviation ? abbreviation : "?");
  /* Node has no SIGPOLL, the other name of the same signal. */
  return JS_NewString(context, strcmp(name, "SIGPOLL") ? name : "SIGIO");
}

/* ---- Files ---- */

CALL(open_file) {
  UNUSED;
  const char *path = c_string(context, values[0]);
  if (!path) return failed(context, errno);
  int file = open(path, integer(context, values[1]) | O_CLOEXEC, (mode_t)integer(context, values[2]));
  JSValue result = outcome(context, file);
  JS_FreeCString(context, path);
  return result;
}

CALL(close_file) {
  UNUSED;
  return outcome(context, close(integer(context, values[0])));
}

CALL(read_bytes) {
  UNUSED;
  size_t size;
  uint8_t *bytes = bytes_from(context, values[1], values[2], &size);
  return bytes ? outcome(context, read(integer(context, values[0]), bytes, size)) : failed(context, EINVAL);
}

CALL(write_bytes) {
  UNUSED;
  size_t size;
  const uint8_t *bytes = bytes_from(context, values[1], values[2], &size);
  return bytes ? outcome(context, write(integer(context, values[0]), bytes, size)) : failed(context, EINVAL);
}

CALL(sync_file) {
  UNUSED;
  return outcome(context, fsync(integer(context, values[0])));
}

/* Makes one call with one path. */
static JSValue with_path(JSContext *context, JSValueConst value, int (*call)(const char *path, long extra), long extra) {
  const char *path = c_string(context, value);
  if (!path) return failed(context, errno);
  JSValue result = outcome(context, call(path, extra));
  JS_FreeCString(context, path);
  return result;
}

static int call_unlink(const char *path, long extra) { return (void)extra, unlink(path); }
static int call_mkdir(const char *path, long mode) { return mkdir(path, (mode_t)mode); }

CALL(remove_file) {
  UNUSED;
  return with_path(context, values[0], call_unlink, 0);
}

CALL(make_folder) {
  UNUSED;
  return with_path(context, values[0], call_mkdir, integer(context, values[1]));
}

CALL(rename_file) {
  UNUSED;
  const char *from = c_string(context, values[0]);
  const char *to = from ? c_string(context, values[1]) : NULL;
  JSValue result = to ? outcome(context, rename(from, to)) : failed(context, errno);
  JS_FreeCString(context, to);
  JS_FreeCString(context, from);
  return result;
}

static struct timespec to_time(double seconds) {
  struct timespec time = {.tv_sec = (time_t)seconds};
  time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
  return time;
}

CALL(set_times) {
  UNUSED;
  const char *path = c_string(context, values[0]);
  if (!path) return failed(context, errno);
  struct timespec times[2] = {to_time(decimal(context, values[1])), to_time(decimal(context, values[2]))};
  int flags = JS_ToBool(context, values[3]) ? AT_SYMLINK_NOFOLLOW : 0;
  JSValue result = outcome(context, utimensat(AT_FDCWD, path, times, flags));
  JS_FreeCString(context, path);
  return result;
}

CALL(list_folder) {
  UNUSED;
  const char *path = c_string(context, values[0]);
  DIR *folder = path ? opendir(path) : NULL;
  JSValue result = folder ? JS_NewArray(context) : failed(context, errno);
  JS_FreeCString(context, path);
  if (!folder) return result;
  uint32_t count_of_names = 0;
  const struct dirent *entry;
  for (errno = 0; (entry = readdir(folder)); errno = 0)
    if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
      JS_SetPropertyUint32(context, result, count_of_names++,
                           text_of(context, (const uint8_t *)entry->d_name, strlen(entry->d_name)));
  int error = errno;
  closedir(folder);
  if (!error) return result;
  JS_FreeValue(context, result);
  return failed(context, error);
}

static JSValue stats_of(JSContext *context, const struct stat *stats) {
  JSValue object = JS_NewObject(context);
  JS_SetPropertyStr(context, object, "dev", JS_NewBigUint64(context, stats->st_dev));
  JS_SetPropertyStr(context, object, "ino", JS_NewBigUint64(context, stats->st_ino));
  JS_SetPropertyStr(context, object, "mode", JS_NewInt64(context, stats->st_mode));
  JS_SetPropertyStr(context, object, "rdev", JS_NewInt64(context, (int64_t)stats->st_rdev));
  JS_SetPropertyStr(context, object, "size", JS_NewInt64(context, stats->st_size));
  JS_SetPropertyStr(context, object, "atimeMs",
                    JS_NewFloat64(context, (double)stats->st_atim.tv_sec * 1e3 + (double)stats->st_atim.tv_nsec / 1e6));
  JS_SetPropertyStr(context, object, "mtimeMs",
                    JS_NewFloat64(context, (double)stats->st_mtim.tv_sec * 1e3 + (double)stats->st_mtim.tv_nsec / 1e6));
  return object;
}

CALL(stat_path) {
  UNUSED;
  struct stat stats;
  const char *path = c_string(context, values[0]);
  if (!path) return failed(context, errno);
  int flags = JS_ToBool(context, values[1]) ? AT_SYMLINK_NOFOLLOW : 0;
  JSValue result = fstatat(AT_FDCWD, path, &stats, flags) ? failed(context, errno) : stats_of(context, &stats);
  JS_FreeCString(context, path);
  return result;
}

CALL(stat_file) {
  UNUSED;
  struct stat stats;
  return fstat(integer(context, values[0]), &stats) ? failed(context, errno) : stats_of(context, &stats);
}

/* ---- Time and waiting ---- */

CALL(now) {
  UNUSED;
  (void)values;
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return JS_NewFloat64(context, (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6);
}

CALL(pause_for) {
  UNUSED;
  struct timespec time = to_time(decimal(context, values[0]) / 1e3);
  return outcome(context, nanosleep(&time, NULL));
}

/* poll(2) takes no more descriptors than the process may open, though they are open already; select(2) does. */
static int wait_by_select(struct pollfd *waiting, nfds_t length, int ms) {
  fd_set readable, writable;
  FD_ZERO(&readable);
  FD_ZERO(&writable);
  int end = 0;
  for (nfds_t nth = 0; nth < length; nth++) {
    int descriptor = waiting[nth].fd;
    if (descriptor < 0 || descriptor >= FD_SETSIZE) return errno = EINVAL, -1;
    FD_SET(descriptor, waiting[nth].events & POLLIN ? &readable : &writable);
    if (descriptor >= end) end = descriptor + 1;
  }
  struct timeval time = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
  int found = select(end, &readable, &writable, NULL, ms < 0 ? NULL : &time);
  for (nfds_t nth = 0; found >= 0 && nth < length; nth++) {
    struct pollfd *one = &waiting[nth];
    one->revents = FD_ISSET(one->fd, one->events & POLLIN ? &readable : &writable) ? one->events : 0;
  }
  return found;
}

static int wait_by_poll(struct pollfd *waiting, nfds_t length, int ms) {
  int found = poll(waiting, length, ms);
  return found < 0 && errno == EINVAL ? wait_by_select(waiting, length, ms) : found;
}

/* Waits for descriptors: an array of [descriptor, events], and how long; the events of each that came, or an errno. */
CALL(wait_for) {
  UNUSED;
  enum { most = 16 };
  struct pollfd waiting[most];
  int64_t length = 0;
  if (JS_GetLength(context, values[0], &length) || length > most) return failed(context, EINVAL);
  for (uint32_t nth = 0; nth < length; nth++) {
    JSValue entry = JS_GetPropertyUint32(context, values[0], nth);
    JSValue descriptor = JS_GetPropertyUint32(context, entry, 0), events = JS_GetPropertyUint32(context, entry, 1);
    waiting[nth] = (struct pollfd){.fd = integer(context, descriptor), .events = (short)integer(context, events)};
    JS_FreeValue(context, entry);
  }
  if (wait_by_poll(waiting, (nfds_t)length, integer(context, values[1])) < 0) return failed(context, errno);
  JSValue result = JS_NewArray(context);
  for (uint32_t nth = 0; nth < length; nth++)
    JS_SetPropertyUint32(context, result, nth, JS_NewInt32(context, waiting[nth].revents));
  return result;
}

/* ---- Sockets ---- */

CALL(connect_socket) {
  UNUSED;
  const char *path = c_string(context, values[0]);
  if (!path) return failed(context, errno);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  JSValue result;
  if (strlen(path) >= sizeof address.sun_path) {
    result = failed(context, ENAMETOOLONG);
  } else {
    strcpy(address.sun_path, path);
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    result = outcome(context, file);
    if (file >= 0 && connect(file, (const struct sockaddr *)&address, sizeof address)) {
      result = failed(context, errno);
      close(file);
    }
  }
  JS_FreeCString(context, path);
  return result;
}

CALL(end_sending) {
  UNUSED;
  return outcome(context, shutdown(integer(context, values[0]), SHUT_WR));
}

/* ---- Programs ---- */

/* An array of texts as execve takes it; NULL and errno where one cannot be passed on. */
static char **texts_of(JSContext *context, JSValueConst array) {
  int64_t length = 0;
  if (JS_GetLength(context, array, &length)) return errno = EINVAL, NULL;
  char **texts = calloc((size_t)length + 1, sizeof *texts);
  for (uint32_t nth = 0; texts && nth < length; nth++) {
    JSValue value = JS_GetPropertyUint32(context, array, nth);
    const char *text = c_string(context, value);
    JS_FreeValue(context, value);
    texts[nth] = text ? strdup(text) : NULL;
    JS_FreeCString(context, text);
    if (texts[nth]) continue;
    while (nth > 0) free(texts[--nth]);
    free(texts);
    return NULL;
  }
  return texts;
}

static void free_texts(char **texts) {
  for (char **text = texts; text && *text; text++) free(*text);
  free(texts);
}

/* A program starts with every signal as it is by default, and none blocked. */
static int spawn_with(const char *program, char **words, char **environment, int (*pipes)[2], int detached, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t every, none;
  sigfillset(&every);
  sigemptyset(&none);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &every);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (detached ? POSIX_SPAWN_SETSID : 0));
  posix_spawn_file_actions_adddup2(&actions, pipes[0][0], 0);
  posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 1);
  posix_spawn_file_actions_adddup2(&actions, pipes[2][1], 2);
  if (detached) posix_spawn_file_actions_addchdir_np(&actions, "/");
  int error = posix_spawn(pid, program, &actions, &attributes, words, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static void close_both(int *ends) {
  if (ends[0] >= 0) close(ends[0]);
  if (ends[1] >= 0) close(ends[1]);
}

/* Starts a program: [pid, our ends of its stdin, stdout and stderr], or an errno. */
CALL(start_program) {
  UNUSED;
  int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
  const char *program = c_string(context, values[0]);
  char **words = program ? texts_of(context, values[1]) : NULL;
  char **environment = words ? texts_of(context, values[2]) : NULL;
  int error = environment ? 0 : errno;
  for (int nth = 0; nth < 3 && !error; nth++)
    if (pipe2(pipes[nth], O_CLOEXEC)) error = errno;
  pid_t pid = 0;
  if (!error) error = spawn_with(program, words, environment, pipes, JS_ToBool(context, values[3]), &pid);
  free_texts(environment);
  free_texts(words);
  JS_FreeCString(context, program);
  if (error) {
    for (int nth = 0; nth < 3; nth++) close_both(pipes[nth]);
    return failed(context, error);
  }
  int ours[] = {pipes[0][1], pipes[1][0], pipes[2][0]}, theirs[] = {pipes[0][0], pipes[1][1], pipes[2][1]};
  JSValue result = JS_NewArray(context);
  JS_SetPropertyUint32(context, result, 0, JS_NewInt32(context, pid));
  for (uint32_t nth = 0; nth < 3; nth++) {
    close(theirs[nth]);
    fcntl(ours[nth], F_SETFL, O_NONBLOCK);
    JS_SetPropertyUint32(context, result, nth + 1, JS_NewInt32(context, ours[nth]));
  }
  return result;
}

/* How a program ended: its exit code, 256 and the signal that ended it, undefined while it runs. */
CALL(look_at_program) {
  UNUSED;
  int status;
  pid_t pid = waitpid(integer(context, values[0]), &status, WNOHANG);
  if (pid == 0) return JS_UNDEFINED;
  if (pid < 0) return failed(context, errno);
  return JS_NewInt32(context, WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status));
}

CALL(kill_program) {
  UNUSED;
  return outcome(context, kill(integer(context, values[0]), SIGKILL));
}

CALL(end_process) {
  UNUSED;
  _exit(integer(context, values[0]));
  return JS_UNDEFINED;
}

static JSValue environment_of(JSContext *context) {
  /* No prototype: a variable may have any name. */
  JSValue object = JS_NewObjectProto(context, JS_NULL);
  for (char **entry = environ; *entry; entry++) {
    const char *sign = strchr(*entry, '=');
    if (!sign) continue;
    JSValue name = text_of(context, (const uint8_t *)*entry, (size_t)(sign - *entry));
    JSAtom atom = JS_ValueToAtom(context, name);
    /* Of two equal names the first one counts, as for getenv. */
    if (JS_HasProperty(context, object, atom) == 0)
      JS_DefinePropertyValue(context, object, atom, text_of(context, (const uint8_t *)sign + 1, strlen(sign + 1)),
                             JS_PROP_C_W_E);
    JS_FreeAtom(context, atom);
    JS_FreeValue(context, name);
  }
  return object;
}

static const JSCFunctionListEntry calls[] = {
    JS_CFUNC_DEF("decode", 3, decode),
    JS_CFUNC_DEF("encode", 1, encode),
    JS_CFUNC_DEF("byteLength", 1, byte_length),
    JS_CFUNC_DEF("errnoName", 1, errno_name),
    JS_CFUNC_DEF("errnoText", 1, errno_text),
    JS_CFUNC_DEF("signalName", 1, signal_name),
    JS_CFUNC_DEF("open", 3, open_file),
    JS_CFUNC_DEF("close", 1, close_file),
    JS_CFUNC_DEF("read", 3, read_bytes),
    JS_CFUNC_DEF("write", 3, write_bytes),
    JS_CFUNC_DEF("fsync", 1, sync_file),
    JS_CFUNC_DEF("unlink", 1, remove_file),
    JS_CFUNC_DEF("mkdir", 2, make_folder),
    JS_CFUNC_DEF("rename", 2, rename_file),
    JS_CFUNC_DEF("utimes", 4, set_times),
    JS_CFUNC_DEF("readdir", 1, list_folder),
    JS_CFUNC_DEF("stat", 2, stat_path),
    JS_CFUNC_DEF("fstat", 1, stat_file),
    JS_CFUNC_DEF("now", 0, now),
    JS_CFUNC_DEF("pause", 1, pause_for),
    JS_CFUNC_DEF("poll", 2, wait_for),
    JS_CFUNC_DEF("connect", 1, connect_socket),
    JS_CFUNC_DEF("shutdown", 1, end_sending),
    JS_CFUNC_DEF("spawn", 4, start_program),
    JS_CFUNC_DEF("wait", 1, look_at_program),
    JS_CFUNC_DEF("kill", 1, kill_program),
    JS_CFUNC_DEF("exit", 1, end_process),
};

static JSValue constants_of(JSContext *context) {
  /* Their numbers differ between architectures. */
  const struct {
    const char *name;
    int flag;
  } flags[] = {{"O_RDONLY", O_RDONLY}, {"O_WRONLY", O_WRONLY},     {"O_APPEND", O_APPEND},    {"O_CREAT", O_CREAT},
               {"O_EXCL", O_EXCL},     {"O_NOFOLLOW", O_NOFOLLOW}, {"O_NONBLOCK", O_NONBLOCK}};
  JSValue object = JS_NewObject(context);
  for (size_t nth = 0; nth < sizeof flags / sizeof *flags; nth++)
    JS_SetPropertyStr(context, object, flags[nth].name, JS_NewInt32(context, flags[nth].flag));
  return object;
}

JSValue make_system(JSContext *context, int count, char **arguments, int signal_descriptor) {
  JSValue object = JS_NewObject(context);
  JS_SetPropertyFunctionList(context, object, calls, (int)(sizeof calls / sizeof *calls));
  JS_SetPropertyStr(context, object, "pid", JS_NewInt32(context, getpid()));
  JS_SetPropertyStr(context, object, "env", environment_of(context));
  JS_SetPropertyStr(context, object, "constants", constants_of(context));
  JS_SetPropertyStr(context, object, "signals", JS_NewInt32(context, signal_descriptor));
  if (count > 1)
    JS_SetPropertyStr(context, object, "argument",
                      text_of(context, (const uint8_t *)arguments[1], strlen(arguments[1])));
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length > 0) JS_SetPropertyStr(context, object, "program", text_of(context, (const uint8_t *)path, (size_t)length));
  return object;
}
