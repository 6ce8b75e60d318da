import type { StartProgram } from '../../program.ts'
import { awaitSignal } from './event-loop.ts'
import { readOn } from './read-on.ts'
import { Sending } from './sending.ts'
import { system, systemError } from './system.ts'

/** Programs that run, by what is to be done once one has ended. */
const running = new Map<number, (status: number) => void>()

/** To be called at SIGCHLD: several signals may have become one. */
export function reapPrograms(): void {
  for (const [pid, ended] of running) {
    const status = system.wait(pid)
    if (status === undefined) continue
    running.delete(pid)
    ended(status)
  }
}

/** A status from here on names a signal. */
const bySignal = 256

export const startProgram: StartProgram = ({ program, words, env, isDetached }, listener) => {
  const variables = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${value}`,
  )
  const started = system.spawn(program, [program, ...words], variables, isDetached)
  if (typeof started === 'number') {
    queueMicrotask(() => {
      listener.failed(systemError(-started, 'spawn', program))
    })
    return { write: () => undefined, kill: () => undefined, release: () => undefined }
  }
  const [pid, stdin, ...outputs] = started
  const open = new Set([stdin, ...outputs])
  const stops = new Map<number, () => void>()
  let isReleased = false
  const shut = (file: number): void => {
    stops.get(file)?.()
    if (open.delete(file)) system.close(file)
  }
  const tellIfClosed = (): void => {
    if (!isReleased && !running.has(pid) && outputs.every(file => !open.has(file))) listener.closed()
  }
  const sending = new Sending(stdin, () => {
    shut(stdin)
  })
  outputs.forEach((file, nth) => {
    const ended = (): void => {
      shut(file)
      if (nth === 0 && !isReleased) listener.stdoutEnded()
      tellIfClosed()
    }
    const received = nth === 0 ? listener.stdout : listener.stderr
    stops.set(file, readOn(file, { received, ended, failed: ended }))
  })
  const letGo = awaitSignal()
  running.set(pid, status => {
    letGo()
    if (isReleased) return
    if (status >= bySignal) listener.exited(undefined, system.signalName(status - bySignal))
    else listener.exited(status < 0 ? undefined : status, undefined)
    tellIfClosed()
  })
  return {
    write: text => {
      sending.send(text)
      sending.end(() => {
        shut(stdin)
      })
    },
    kill: () => {
      if (running.has(pid)) system.kill(pid)
    },
    release: () => {
      isReleased = true
      letGo()
      sending.drop()
      for (const file of [...open]) shut(file)
    },
  }
}
