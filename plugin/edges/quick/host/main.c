/*
 * Runs the plugin's bytecode on QuickJS. This file starts and ends the process and turns the event loop, whose rules are
 * in event-loop.ts; what the script may ask of the kernel is in system.c.
 */
#include "system.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* Linked in from the file that compile.c writes. */
extern const uint8_t plugin_bytecode[];
extern const uint8_t plugin_bytecode_end[];

static int signal_pipe[2] = {-1, -1};

/* Those that end a process by default and that somebody may send: the same as in edges/node/interruption.ts. */
static const int interrupting[] = {SIGTERM, SIGINT,    SIGHUP,  SIGQUIT, SIGUSR2, SIGALRM,
                                   SIGVTALRM, SIGPROF, SIGXCPU, SIGIO,   SIGPWR,  SIGSTKFLT};
/* A write fails with EPIPE or EFBIG instead; SIGUSR1 means nothing here, as in the other executable. */
static const int ignored[] = {SIGPIPE, SIGXFSZ, SIGUSR1};

static void pass_on(int number) {
  int kept = errno;
  uint8_t byte = (uint8_t)number;
  /* A pipe that is full has woken the loop already. */
  ssize_t written = write(signal_pipe[1], &byte, 1);
  (void)written;
  errno = kept;
}

static void handle_signals(void) {
  if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK)) return;
  struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
  for (size_t nth = 0; nth < sizeof interrupting / sizeof *interrupting; nth++)
    sigaction(interrupting[nth], &action, NULL);
  action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
  sigaction(SIGCHLD, &action, NULL);
  action.sa_handler = SIG_IGN;
  for (size_t nth = 0; nth < sizeof ignored / sizeof *ignored; nth++) sigaction(ignored[nth], &action, NULL);
}

/* What the caller has closed must not become a file of ours: standard-streams.ts knows such a descriptor by its direction. */
static void fill_standard_descriptors(void) {
  for (int descriptor = 0; descriptor <= 2; descriptor++)
    if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) abort();
}

/*
 * A configuration may nest 100,000 deep, and the engine needs 2 KiB of stack for a level. So the script runs on a stack of its
 * own, of which the kernel supplies only what is touched; where the process may not have that much, on a smaller one.
 */
static ucontext_t script_context;

static int make_stack(void) {
  const size_t most = 256 << 20, least = 4 << 20;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE;
  for (size_t size = most; size >= least; size /= 2) {
    void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (stack == MAP_FAILED) continue;
    /* Where that was all there is, most of it is for everything else. */
    size_t kept = size == most ? size : size / 4;
    if (kept < size) munmap((char *)stack + kept, size - kept);
    script_context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = kept};
    return 0;
  }
  return -1;
}

static JSContext *make_context(JSRuntime *runtime) {
  JSContext *context = JS_NewContextRaw(runtime);
  /* No eval and no Function: what is not in the bytecode is never run. */
  if (!context || JS_AddIntrinsicBaseObjects(context) || JS_AddIntrinsicDate(context) ||
      JS_AddIntrinsicRegExp(context) || JS_AddIntrinsicJSON(context) || JS_AddIntrinsicMapSet(context) ||
      JS_AddIntrinsicTypedArrays(context) || JS_AddIntrinsicPromise(context) || JS_AddIntrinsicBigInt(context))
    return NULL;
  return context;
}

/* The last resort: the script itself has failed, and with it what prints errors. */
static void print_exception(JSContext *context) {
  JSValue error = JS_GetException(context);
  const char *text = JS_ToCString(context, error);
  fprintf(stderr, "ipkeeper: %s\n", text ? text : "an error that has no text");
  JS_FreeCString(context, text);
  JS_FreeValue(context, error);
}

/* Hands the pending exception to the script, which ends the run with it. */
static void report_exception(JSContext *context, JSValueConst script) {
  JSValue error = JS_GetException(context);
  JSValue fail = JS_GetPropertyStr(context, script, "fail");
  JSValue result = JS_Call(context, fail, JS_UNDEFINED, 1, (JSValueConst *)&error);
  if (JS_IsException(result)) {
    print_exception(context);
    _exit(1);
  }
  JS_FreeValue(context, result);
  JS_FreeValue(context, fail);
  JS_FreeValue(context, error);
}

static void run_jobs(JSRuntime *runtime, JSValueConst script) {
  JSContext *context;
  int done;
  while ((done = JS_ExecutePendingJob(runtime, &context)) != 0)
    if (done < 0) report_exception(context, script);
}

/* Lets the script handle one event at a time, and after each all that became ready by it. It ends the process itself. */
static void turn_loop(JSRuntime *runtime, JSContext *context, JSValueConst script) {
  for (;;) {
    run_jobs(runtime, script);
    JSValue turn = JS_GetPropertyStr(context, script, "turn");
    JSValue result = JS_Call(context, turn, JS_UNDEFINED, 0, NULL);
    if (JS_IsException(result)) report_exception(context, script);
    JS_FreeValue(context, result);
    JS_FreeValue(context, turn);
  }
}

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
static void leave_stack(void) {
  void *kept;
  __sanitizer_start_switch_fiber(&kept, script_context.uc_stack.ss_sp, script_context.uc_stack.ss_size);
}
static void enter_stack(void) { __sanitizer_finish_switch_fiber(NULL, NULL, NULL); }
#else
static void leave_stack(void) {}
static void enter_stack(void) {}
#endif

static int argument_count;
static char **argument_values;

static void run_script(void) {
  enter_stack();
  /* What C needs below the script. */
  const size_t reserve = 256 << 10;
  JSRuntime *runtime = JS_NewRuntime();
  if (!runtime) _exit(1);
  JS_SetMaxStackSize(runtime, script_context.uc_stack.ss_size - reserve);
  /* A run of milliseconds is over before there is anything worth collecting. */
  JS_SetGCThreshold(runtime, 64 << 20);
  JSContext *context = make_context(runtime);
  if (!context) _exit(1);
  JSValue global = JS_GetGlobalObject(context);
  JS_SetPropertyStr(context, global, "system", make_system(context, argument_count, argument_values, signal_pipe[0]));
  size_t size = (size_t)(plugin_bytecode_end - plugin_bytecode);
  JSValue code = JS_ReadObject(context, plugin_bytecode, size, JS_READ_OBJ_BYTECODE);
  JSValue result = JS_IsException(code) ? code : JS_EvalFunction(context, code);
  if (JS_IsException(result)) {
    print_exception(context);
    _exit(1);
  }
  JS_FreeValue(context, result);
  turn_loop(runtime, context, JS_GetPropertyStr(context, global, "script"));
}

int main(int count, char **arguments) {
  argument_count = count;
  argument_values = arguments;
  fill_standard_descriptors();
  handle_signals();
  getcontext(&script_context);
  if (make_stack()) return 1;
  makecontext(&script_context, run_script, 0);
  leave_stack();
  setcontext(&script_context);
  return 1;
}
