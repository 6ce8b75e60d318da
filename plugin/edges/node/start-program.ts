import type { Program, StartProgram } from '../../program.ts'

/** Without file descriptors there are no streams, and no process; the error comes by itself. */
const notStarted: Program = { write: () => undefined, kill: () => undefined, release: () => undefined }

/** node:child_process is loaded when it is needed, since few runs start anything and every import is start-up time. */
export const startProgram: StartProgram = async ({ program, words, env, isDetached }, listener) => {
  const { spawn } = await import('node:child_process')
  const child = spawn(program, words, {
    ...{ env, stdio: 'pipe' },
    ...(isDetached && { cwd: '/', detached: true }),
  })
  child.on('error', listener.failed)
  if (child.pid === undefined) return notStarted
  child.stdout.on('data', listener.stdout)
  child.stdout.on('end', listener.stdoutEnded)
  child.stderr.on('data', listener.stderr)
  child.on('exit', (code, signal) => {
    listener.exited(code ?? undefined, signal ?? undefined)
  })
  child.on('close', listener.closed)
  child.stdin.on('error', () => undefined)
  return {
    write: text => child.stdin.end(text),
    kill: () => child.kill('SIGKILL'),
    release: () => {
      child.removeAllListeners()
      child.on('error', () => undefined)
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
      child.unref()
    },
  }
}
