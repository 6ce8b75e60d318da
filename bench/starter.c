/*
 * Starts programs as a runtime does, and tells what each of them took: time, processor time, page faults, memory.
 *
 * Not in Node: its spawn costs every program a millisecond and more, and what a process inherits counts as its peak memory, so that
 * none would seem to take less than the benchmark itself. This one is small and does nothing else meanwhile.
 *
 * It reads batches from stdin, texts that each end with a NUL: how many run at a time, how many there are, and for each of them
 * program, input, its environment and an empty text. For each it writes two texts: figures (see print), and what it wrote to stdout and
 * stderr.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { most_variables = 64, longest_seconds = 180 };

struct run {
  char *program, *input, *environment[most_variables + 1];
  pid_t process; /* 0: not running */
  int output_pipe, status;
  double started_ms, ended_ms;
  struct rusage usage;
  char *output;
  size_t output_length;
};

static struct run *runs;
static long count;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static char *read_text(void) {
  char *text = NULL;
  size_t size = 0;
  if (getdelim(&text, &size, '\0', stdin) < 0) exit(0);
  return text;
}

static long read_number(void) {
  char *text = read_text();
  long number = atol(text);
  free(text);
  return number;
}

static void read_run(struct run *run) {
  run->program = read_text();
  run->input = read_text();
  for (int index = 0;; index++) {
    if (index == most_variables) {
      errno = E2BIG;
      fail(run->program);
    }
    char *variable = read_text();
    if (*variable) {
      run->environment[index] = variable;
      continue;
    }
    free(variable);
    return;
  }
}

/* Its input waits in the pipe, as that of a runtime does, so it has to fit into one. */
static void start(struct run *run) {
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) || pipe2(output, O_CLOEXEC)) fail("pipe2");
  size_t length = strlen(run->input);
  if (fcntl(input[1], F_SETFL, O_NONBLOCK) || write(input[1], run->input, length) != (ssize_t)length) fail("write");
  close(input[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], 0);
  posix_spawn_file_actions_adddup2(&actions, output[1], 1);
  posix_spawn_file_actions_adddup2(&actions, output[1], 2);
  char *words[] = {run->program, NULL};
  run->output_pipe = output[0];
  run->started_ms = now_ms();
  if (posix_spawn(&run->process, run->program, &actions, NULL, words, run->environment)) fail(run->program);
  posix_spawn_file_actions_destroy(&actions);
  close(input[0]);
  close(output[1]);
}

/* Like a runtime, which waits for a program's end and for the end of its output. */
static void finish(struct run *run, int status, const struct rusage *usage) {
  char chunk[4096];
  FILE *text = open_memstream(&run->output, &run->output_length);
  for (ssize_t length; (length = read(run->output_pipe, chunk, sizeof chunk)) > 0;)
    for (ssize_t index = 0; index < length; index++)
      if (chunk[index]) fputc(chunk[index], text);
  fclose(text);
  close(run->output_pipe);
  run->ended_ms = now_ms();
  run->process = 0;
  run->status = status;
  run->usage = *usage;
}

/* The usage is that of the program and of those that it waited for; of memory it is the largest of them. */
static void await_one(void) {
  int status;
  struct rusage usage;
  alarm(longest_seconds);
  pid_t process = wait4(-1, &status, 0, &usage);
  alarm(0);
  for (long index = 0; index < count; index++)
    if (process > 0 && runs[index].process == process) finish(&runs[index], status, &usage);
}

static void kill_all(int number) {
  (void)number;
  for (long index = 0; index < count; index++)
    if (runs[index].process) kill(runs[index].process, SIGKILL);
}

static double ms_of(struct timeval time) { return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3; }

static void print(const struct run *run, double begun_ms) {
  const struct rusage *usage = &run->usage;
  printf("%d %.4f %.4f %.3f %ld %ld", WIFEXITED(run->status) ? WEXITSTATUS(run->status) : -WTERMSIG(run->status),
         run->started_ms - begun_ms, run->ended_ms - begun_ms, ms_of(usage->ru_utime) + ms_of(usage->ru_stime),
         usage->ru_minflt + usage->ru_majflt, usage->ru_maxrss);
  putchar('\0');
  fputs(run->output, stdout);
  putchar('\0');
}

static void release(struct run *run) {
  free(run->program);
  free(run->input);
  for (int index = 0; run->environment[index]; index++) free(run->environment[index]);
  free(run->output);
}

static int running(void) {
  int number = 0;
  for (long index = 0; index < count; index++) number += runs[index].process != 0;
  return number;
}

int main(void) {
  struct sigaction action = {.sa_handler = kill_all};
  sigaction(SIGALRM, &action, NULL);
  for (;;) {
    long at_once = read_number();
    count = read_number();
    runs = calloc((size_t)count + 1, sizeof *runs);
    if (!runs) fail("calloc");
    for (long index = 0; index < count; index++) read_run(&runs[index]);
    double begun_ms = now_ms();
    for (long index = 0; index < count; index++) {
      while (running() >= at_once) await_one();
      start(&runs[index]);
    }
    while (running() > 0) await_one();
    for (long index = 0; index < count; index++) print(&runs[index], begun_ms);
    fflush(stdout);
    for (long index = 0; index < count; index++) release(&runs[index]);
    free(runs);
  }
}
