/**
 * Timers, descriptors and signals, by poll(2). host/main.c calls `turn` again and again, and runs what became ready by
 * promises in between: as in Node, each event is done with before the next begins.
 */
import { system, systemError } from './system.ts'

type Act = () => void

interface Watch {
  readonly descriptor: number
  readonly events: number
  readonly ready: Act
}

const pollEvents = { read: 0x1, write: 0x4 } as const

const timers = new Map<number, { readonly due: number; readonly act: Act }>()
const watches = new Set<Watch>()
/** What poll found, and is not done yet. */
const found: Watch[] = []
/** What poll takes at most; the next turn waits on. */
const longestWaitMs = 2 ** 31 - 1
let lastTimer = 0

export function setTimeout(act: Act, ms: number): number {
  timers.set(++lastTimer, { due: system.now() + ms, act })
  return lastTimer
}

export function clearTimeout(timer: number | undefined): void {
  if (timer !== undefined) timers.delete(timer)
}

/** Calls `ready` whenever a descriptor can be read or written, or has failed; returns what ends that. */
export function watch(descriptor: number, direction: keyof typeof pollEvents, ready: Act): Act {
  const made: Watch = { descriptor, events: pollEvents[direction], ready }
  watches.add(made)
  return () => {
    watches.delete(made)
  }
}

/** How many wait for a signal: of a program that has closed its streams nothing else tells that it ends. */
let waiting = 0

/** Keeps the process going until a signal has told what is waited for; to be called then. */
export function awaitSignal(): Act {
  let isOver = false
  waiting++
  return () => {
    if (!isOver) waiting--
    isOver = true
  }
}

/** Who hears of a signal, by its number. */
let hearSignal: (number: number) => void = () => undefined
const signalWatch: Watch = {
  descriptor: system.signals,
  events: pollEvents.read,
  ready: () => {
    const numbers = new Uint8Array(64)
    for (const number of numbers.subarray(0, Math.max(0, system.read(system.signals, numbers, 0))))
      hearSignal(number)
  },
}

export function onSignal(hear: (number: number) => void): void {
  hearSignal = hear
}

/** Does what comes next, and waits for it; false: nothing is left to wait for. */
export function turn(): boolean {
  const next = found.shift()
  if (next !== undefined) {
    if (next === signalWatch || watches.has(next)) next.ready()
    return true
  }
  if (timers.size === 0 && watches.size === 0 && waiting === 0) return false
  const [number, timer] = [...timers].reduce<readonly [number, { due: number; act?: Act }]>(
    (first, entry) => (entry[1].due < first[1].due ? entry : first),
    [0, { due: Infinity }],
  )
  const ms = timer.due - system.now()
  if (ms <= 0) {
    timers.delete(number)
    timer.act?.()
    return true
  }
  // Without a descriptor for it there are no signals.
  const all = system.signals < 0 ? [...watches] : [signalWatch, ...watches]
  const events = system.poll(
    all.map(one => [one.descriptor, one.events] as const),
    ms === Infinity ? -1 : Math.min(Math.ceil(ms), longestWaitMs),
  )
  if (Array.isArray(events)) found.push(...all.filter((_, nth) => events[nth] !== 0))
  // A signal that came is in its pipe by now; anything else would come again and again.
  else if (system.errnoName(-events) !== 'EINTR') throw systemError(-events, 'poll')
  return true
}
