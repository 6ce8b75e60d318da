/**
 * main.ts imports this before anything else: a signal that comes while the rest of the plugin is loaded, some
 * milliseconds, must not end it without a word. It is heard of after that, in the next turn of the event loop.
 *
 * The signals are those that end a process by default and that somebody may send. Of the others Node ignores SIGPIPE
 * and SIGXFSZ, so that a write fails with EPIPE or EFBIG, and SIGUSR1 is switched off in scripts/build-executables.ts.
 */
const signals = [
  'SIGTERM',
  'SIGINT',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR2',
  'SIGALRM',
  'SIGVTALRM',
  'SIGPROF',
  'SIGXCPU',
  'SIGIO',
  'SIGPWR',
  'SIGSTKFLT',
] as const

let listener: (signal: string) => void = () => undefined

for (const signal of signals) {
  process.on(signal, () => {
    listener(signal)
  })
}

/** Says who hears of signals; to be called in the first turn of the event loop, before any can be heard of. */
export function onInterruption(listen: (signal: string) => void): void {
  listener = listen
}
