/** Processes that play histories, so that both cores do, and that one that never ends stops nobody. */
import { fork, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Coverage } from './coverage.ts'
import type { Outcome } from './play-history.ts'
import type { History, Kind } from './steps.ts'

export interface Seed {
  readonly kind: Kind
  readonly seed: number
}

export type Asked = Seed | History

export interface Played extends Outcome {
  readonly coverage: Coverage
}

/** Milliseconds of processor time after which a history is taken for one that never ends: a busy machine takes longer by the clock. */
const usualPatience = 30_000
/** By the clock so many times that: whoever needs no processor time waits for what never comes. */
const waitsFor = 20

export class Players {
  /** All that they write is here, also what one that is killed leaves. */
  readonly #folder = mkdtempSync(join(tmpdir(), 'ipk-'))
  /** Name of one in faults.ts that is put back in what processes play that begin from here on. */
  fault: string | undefined
  readonly #free: ChildProcess[] = []
  readonly #busy = new Set<ChildProcess>()

  async play(asked: Asked, patience = usualPatience): Promise<Played> {
    const child = this.#free.pop() ?? this.#begin()
    this.#busy.add(child)
    const { promise, resolve } = Promise.withResolvers<Played>()
    const end = (says: string): void => {
      const at = 'moments' in asked ? asked.end : 0
      resolve({ violations: [{ invariant: 'a history ends', at, says }], story: [], coverage: {} })
    }
    const [began, spent] = [performance.now(), processorTime(child)]
    const timer = setInterval(
      () => {
        const played = Math.max(processorTime(child) - spent, (performance.now() - began) / waitsFor)
        if (played < patience) return
        child.kill('SIGKILL')
        end(`it was played for ${patience / 1000} s`)
      },
      Math.min(1000, patience),
    )
    child.once('message', (played: Played) => {
      this.#free.push(child)
      resolve(played)
    })
    child.once('exit', (code, signal) => {
      end(`the process that played it ended with ${signal ?? `exit code ${code}`}`)
    })
    child.send(asked)
    try {
      return await promise
    } finally {
      clearInterval(timer)
      child.removeAllListeners()
      this.#busy.delete(child)
    }
  }

  /** What is still played has no end then. */
  async close(): Promise<void> {
    const ended = [...this.#busy, ...this.#free].map(
      child => new Promise(resolve => child.once('exit', resolve)),
    )
    for (const child of this.#busy) child.kill('SIGKILL')
    for (const child of this.#free) child.disconnect()
    await Promise.all(ended)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #begin(): ChildProcess {
    const player = join(import.meta.dirname, 'player.ts')
    return fork(player, this.fault === undefined ? [] : [this.fault], {
      env: { ...process.env, TMPDIR: this.#folder },
      // Who interrupts at a terminal means the whole group: it is for the parent to say when its players end.
      detached: true,
    })
  }
}

/** Milliseconds; of one that has ended 0. */
function processorTime({ pid, exitCode, signalCode }: ChildProcess): number {
  if (pid === undefined || exitCode !== null || signalCode !== null) return 0
  // What stands before the last bracket is its name. Clock ticks are of 10 ms.
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?!.*\) )/)
  const fields = rest.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Plays as many at once as there are `atOnce`, until there are no more, or `onPlayed` says that it is enough. */
export async function playMany(
  players: Players,
  seeds: Iterator<Seed>,
  {
    atOnce,
    onPlayed,
  }: { readonly atOnce: number; readonly onPlayed: (seed: Seed, played: Played) => boolean },
): Promise<void> {
  let isEnough = false
  const one = async (): Promise<void> => {
    while (!isEnough) {
      const { value, done } = seeds.next() as IteratorResult<Seed, undefined>
      if (done === true) return
      const played = await players.play(value)
      isEnough ||= !onPlayed(value, played)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}
