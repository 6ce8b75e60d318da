/** What a call returns that can fail: a number below 0 is a negated errno. */
type Outcome = number

export interface SystemStats {
  readonly dev: bigint
  readonly ino: bigint
  readonly mode: number
  readonly rdev: number
  readonly size: number
  readonly atimeMs: number
  readonly mtimeMs: number
}

/** The calls of the kernel that host/system.c makes; none of them throws but for want of memory. */
export interface System {
  readonly pid: number
  readonly env: Readonly<Record<string, string>>
  /** The first word behind the program's name. */
  readonly argument?: string
  /** Path of this executable; absent without /proc. */
  readonly program?: string
  /** Flags of open, whose numbers differ between architectures. */
  readonly constants: Readonly<
    Record<'O_RDONLY' | 'O_WRONLY' | 'O_APPEND' | 'O_CREAT' | 'O_EXCL' | 'O_NOFOLLOW' | 'O_NONBLOCK', number>
  >
  /** A pipe out of which the numbers of signals come, one byte each. */
  readonly signals: number

  /** The UTF-8 text at an offset, of so many bytes at most; what is no UTF-8 is replaced as TextDecoder does. */
  decode(bytes: Uint8Array, offset: number, length: number): string
  encode(wellFormed: string): Uint8Array<ArrayBuffer>
  byteLength(wellFormed: string): number
  errnoName(errno: number): string
  errnoText(errno: number): string
  signalName(number: number): string

  open(path: string, flags: number, mode: number): Outcome
  close(file: number): Outcome
  /** How many bytes came, to an offset on. */
  read(file: number, bytes: Uint8Array, offset: number): Outcome
  /** How many bytes were taken, from an offset on. */
  write(file: number, bytes: Uint8Array, offset: number): Outcome
  fsync(file: number): Outcome
  unlink(path: string): Outcome
  mkdir(path: string, mode: number): Outcome
  rename(from: string, to: string): Outcome
  /** Both in seconds since the epoch. */
  utimes(path: string, accessed: number, changed: number, ofLink: boolean): Outcome
  readdir(path: string): string[] | Outcome
  stat(path: string, ofLink: boolean): SystemStats | Outcome
  fstat(file: number): SystemStats | Outcome

  /** Milliseconds of CLOCK_MONOTONIC. */
  now(): number
  pause(ms: number): void
  /** Waits for events (poll(2)) of [descriptor, events], 16 of them at most; the events of each. -1: without end. */
  poll(waiting: readonly (readonly [descriptor: number, events: number])[], ms: number): number[] | Outcome

  /** A descriptor that does not wait. */
  connect(path: string): Outcome
  shutdown(file: number): Outcome

  /** Its pid and our ends of its stdin, stdout and stderr, which do not wait. One that is detached leads a session, in "/". */
  spawn(
    program: string,
    words: readonly string[],
    env: readonly string[],
    isDetached: boolean,
  ): [pid: number, stdin: number, stdout: number, stderr: number] | Outcome
  /** Its exit code, or 256 and the number of the signal that ended it; undefined while it runs. */
  wait(pid: number): Outcome | undefined
  kill(pid: number): Outcome
  exit(code: number): never
}

export const { system } = globalThis as unknown as { readonly system: System }

/** The error of a call, as Node words it: "ENOENT: no such file or directory, open '/x'". */
export function systemError(errno: number, call: string, path?: string): Error {
  const code = system.errnoName(errno)
  const text = system.errnoText(errno)
  const where = path === undefined ? '' : ` '${path}'`
  const message = `${code}: ${text.charAt(0).toLowerCase()}${text.slice(1)}, ${call}${where}`
  return Object.assign(new Error(message), { code, syscall: call })
}
