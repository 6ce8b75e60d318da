import type { Abandonment } from './abandonment.ts'

/** How a child ended. */
export interface ChildEnd {
  /** Exit code; undefined when a signal ended it. */
  readonly exit: number | undefined
  readonly signal: string | undefined
  readonly stdout: string
  readonly stderr: string
  /** Whether its time was up, and it was killed. */
  readonly late: boolean
}

export interface ChildStart {
  /** Path of the executable; it gets no arguments. */
  readonly program: string
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: string
  /** Milliseconds until it is killed. */
  readonly timeoutMs: number
  /** Kills it early. */
  readonly abandonment?: Abandonment | undefined
}

/** Rejects with the system's error when the program cannot be started. */
export type RunChild = (start: ChildStart) => Promise<ChildEnd>

/** Bytes of each stream that are kept; what is beyond is read and dropped, so that the child never waits for us. */
const keptBytes = 8 * 1024 * 1024
/** What a child wrote is in the pipe when it ends. A process that it left behind may hold the pipe open for ever. */
const drainMs = 500

/**
 * Makes the one place that starts other programs. A child inherits neither stdout nor stderr: the runtime waits until
 * everybody has closed them (cni-protocol A9), and stdout is for one document. node:child_process is loaded when it is
 * needed, since few runs start anything and every import is start-up time.
 *
 * @param onExit asks for a function to be called when this process ends, so that no child outlives an interrupted run
 */
export function createRunChild(onExit: (kill: () => void) => void): RunChild {
  return async ({ program, env, stdin, timeoutMs, abandonment }) => {
    const { spawn } = await import('node:child_process')
    return await new Promise((resolve, reject) => {
      const child = spawn(program, [], { env, stdio: ['pipe', 'pipe', 'pipe'] })
      child.on('error', reject)
      // Without file descriptors there are no streams, and no process; the error comes by itself.
      if (child.pid === undefined) return
      const stdout = keep(child.stdout)
      const stderr = keep(child.stderr)
      let killed = false
      let late = false
      const kill = (): void => {
        killed = true
        child.kill('SIGKILL')
      }
      onExit(kill)
      abandonment?.whenAbandoned(kill)
      const timer = setTimeout(() => {
        late = true
        kill()
      }, timeoutMs)
      // It may well end without reading what it was given.
      child.stdin.on('error', () => undefined)
      child.stdin.end(stdin)
      child.on('exit', (exit, signal) => {
        clearTimeout(timer)
        const end = (): void => {
          clearTimeout(drain)
          child.stdout.destroy()
          child.stderr.destroy()
          resolve({
            exit: exit ?? undefined,
            signal: signal ?? undefined,
            stdout: stdout(),
            stderr: stderr(),
            late,
          })
        }
        // Of one that was killed nobody wants to hear more.
        const drain = setTimeout(end, killed ? 0 : drainMs)
        child.on('close', end)
      })
    })
  }
}

/** Reads a stream to its end; the function returned gives what has come so far. */
function keep(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = []
  let length = 0
  stream.on('data', (chunk: Buffer) => {
    if (length < keptBytes) chunks.push(chunk)
    length += chunk.length
  })
  return () => Buffer.concat(chunks).toString()
}

/**
 * Has a further process of this executable do something, and waits for no more than its answer, which is one line: the few
 * milliseconds in which that process ends are not waited for. Resolves to what it wrote; false: nothing in time, and it is left to itself; undefined: it could not be started, or ended without a word.
 */
export type AskAside = (word: string, stdin: string, timeoutMs: number) => Promise<string | false | undefined>

export const askAside: AskAside = async (word, stdin, timeoutMs) => {
  const { spawn } = await import('node:child_process')
  return await new Promise(resolve => {
    // Its own session: what ends this run, such as a signal to its group, is not meant for it.
    const child = spawn(process.execPath, [word], {
      ...{ env: {}, cwd: '/', detached: true },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    child.on('error', () => {
      resolve(undefined)
    })
    if (child.pid === undefined) return
    const text = keep(child.stdout)
    const finish = (told: string | false | undefined): void => {
      clearTimeout(timer)
      child.stdin.destroy()
      child.stdout.destroy()
      child.unref()
      resolve(told)
    }
    const timer = setTimeout(() => {
      finish(false)
    }, timeoutMs)
    child.stdin.on('error', () => undefined)
    child.stdin.end(stdin)
    child.stdout.on('data', () => {
      if (text().endsWith('\n')) finish(text())
    })
    child.stdout.on('end', () => {
      finish(text() || undefined)
    })
  })
}
