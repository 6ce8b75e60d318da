import { isDeepStrictEqual } from 'node:util'
import { setImmediate } from 'node:timers/promises'
import { ExchangeError, type HttpReply } from '../../plugin/exchange.ts'
import { startPlugin, type PluginRun } from '../../plugin/run-plugin.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { answerTo, type Act } from './arbitraries/daemon-script.ts'

/** Everything outside of one run of the plugin. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: string
  /** `error`: it cannot be read. `hang`: nobody closes it. */
  readonly stdinIs: 'text' | 'error' | 'hang'
  readonly daemon: readonly Act[]
  /** What takes no writing. */
  readonly broken: { readonly stdout: boolean; readonly queue: boolean }
  readonly ownNetns: boolean
  readonly sameFolder: boolean
  /** SIGTERM: at the nth touch of anything outside, after so many turns of the microtask queue, or when it hangs. */
  readonly interrupt:
    | { readonly at: 'touch' | 'turn'; readonly nth: number }
    | { readonly at: 'hang' }
    | { readonly at: 'never' }
}

export interface AskedRequest {
  readonly path: string
  readonly body: string
  /** undefined while there is none. */
  answer: HttpReply | Error | undefined
}

export interface Performance {
  /** undefined when the run never ended. */
  readonly code: 0 | 1 | undefined
  /** What went to stdout. */
  readonly printed: readonly string[]
  /** How often it was tried to print, with stdout broken too. */
  readonly attempts: number
  readonly requests: readonly AskedRequest[]
  /** Entries of the queue: those that stay, and those taken back. */
  readonly queued: readonly string[]
  readonly withdrawn: readonly string[]
  /** Whether the interruption came before the run had ended. */
  readonly interrupted: boolean
  /** Most milliseconds that may have passed, by the run's own clock. */
  readonly clockMs: number
}

const startMs = 1_000_000.5

/**
 * Plays one run of the plugin on edges that keep their contracts: what hangs ends when its time is up, and only then. No
 * real time passes, so a run that waits for nothing that can come shows at once.
 */
export async function perform(scene: Surroundings): Promise<Performance> {
  const printed: string[] = []
  const requests: AskedRequest[] = []
  const queued: string[] = []
  const withdrawn: string[] = []
  const hanging: (() => void)[] = []
  let attempts = 0
  let nowMs = startMs
  let touches = 0
  let code: 0 | 1 | undefined
  const stage: { run?: PluginRun; interrupted: boolean } = { interrupted: false }

  const interrupt = (): void => {
    if (stage.interrupted || code !== undefined) return
    stage.interrupted = true
    const reason = new Problem('IPK_INTERRUPTED', 'interrupted by SIGTERM before the outcome was known')
    // Before startPlugin returns no signal can be answered: it comes right after.
    if (stage.run) stage.run.interrupt(reason)
    else queueMicrotask(() => stage.run?.interrupt(reason))
  }
  const touch = (): void => {
    if (scene.interrupt.at === 'touch' && touches++ === scene.interrupt.nth) interrupt()
  }
  const timeUp = <Value>(timeoutMs: number, error: Error): Promise<Value> =>
    new Promise((_, reject) => {
      hanging.push(() => {
        nowMs += timeoutMs
        reject(error)
      })
    })

  const versionAsked = (body: string): string => {
    const { config } = JSON.parse(body) as { config: Record<string, unknown> }
    const found = Object.entries(config).findLast(
      ([key, value]) => /^cniVersion$/iu.test(key) && value !== null,
    )
    return found === undefined || found[1] === '' ? '0.1.0' : (found[1] as string)
  }

  const run = startPlugin({
    env: scene.env,
    readStdin: ({ timeoutMs }) => {
      touch()
      const unreadable = new Problem('IPK_INPUT_UNREADABLE', 'error reading from stdin: no end of it')
      if (scene.stdinIs === 'hang') return timeUp(timeoutMs, unreadable)
      return scene.stdinIs === 'error' ? Promise.reject(unreadable) : Promise.resolve(scene.stdin)
    },
    deliver: text => {
      touch()
      attempts++
      if (scene.broken.stdout) throw new Error('EPIPE: broken pipe, write')
      printed.push(text)
    },
    note: () => {
      touch()
    },
    exchange: async ({ path, body, timeoutMs, abandonment }) => {
      const request: AskedRequest = { path, body, answer: undefined }
      const act = scene.daemon[requests.length] ?? scene.daemon.at(-1) ?? { does: 'good' }
      requests.push(request)
      touch()
      nowMs += 1
      if (!(timeoutMs > 0)) throw new Error(`a time of ${timeoutMs} ms`)
      await Promise.resolve()
      const answer =
        act.does === 'hang'
          ? await Promise.race([
              timeUp<never>(timeoutMs, new ExchangeError('late', 'the time was up')),
              new Promise<never>((_, reject) => {
                abandonment?.whenAbandoned(() => {
                  reject(new ExchangeError('late', 'given up'))
                })
              }),
            ]).catch((error: unknown) => error as Error)
          : answerTo(act, { path, cniVersion: versionAsked(body) })
      request.answer = answer
      touch()
      if (answer instanceof Error) throw answer
      return answer
    },
    now: () => nowMs,
    sleep: ms => {
      touch()
      nowMs += ms
      return Promise.resolve()
    },
    startedMs: startMs,
    identity: () => ({ invocationId: 'run-1', startedAt: 1_000_000_500, bootId: 'boot-1' }),
    wallClock: () => 1_700_000_000_000,
    leaveMark: () => {
      if (scene.broken.queue) throw new Problem('IPK_ANSWER_UNMARKED', 'the mark cannot be made (ENOSPC)')
    },
    withdrawMark: () => undefined,
    queueDel: (_folder, { text }) => {
      touch()
      if (scene.broken.queue) throw new Problem('IPK_DEL_NOT_QUEUED', 'the DEL cannot be queued (ENOSPC)')
      queued.push(text)
      return {
        withdraw: () => {
          touch()
          withdrawn.push(text)
        },
      }
    },
    pid: 4711,
    runChild: () => Promise.reject(new Error('no configuration here names a fallback')),
    appendFlight: () => {
      touch()
    },
    stampAnswer: () => {
      touch()
    },
    sinceAnswer: () => undefined,
    isOwnNetns: () => scene.ownNetns,
    isSameFolder: () => scene.sameFolder,
    inodeOf: () => '1:2',
  })
  stage.run = run
  void run.finished.then(ended => (code = ended))

  if (scene.interrupt.at === 'turn') {
    for (let turn = 0; turn < scene.interrupt.nth; turn++) await Promise.resolve()
    interrupt()
  }
  // All that can happen without time has happened when the next phase of the event loop comes.
  await setImmediate()
  while (code === undefined) {
    if (scene.interrupt.at === 'hang') interrupt()
    const release = hanging.shift()
    release?.()
    await setImmediate()
    if (!release) break
  }
  const ended = { code, clockMs: nowMs - startMs }
  // What was still under way comes to its end too; nothing of it may be heard.
  for (let release = hanging.shift(); release; release = hanging.shift()) {
    release()
    await setImmediate()
  }
  if (stage.interrupted) stage.run.interrupt(new Error('again'))
  return {
    ...ended,
    printed,
    attempts,
    requests,
    queued: queued.filter(text => !withdrawn.includes(text)),
    withdrawn,
    interrupted: stage.interrupted,
  }
}

/** Whether the `config` of a request is what stood on stdin. */
export function sentAsItCame(body: string, stdin: string): boolean {
  const { config } = JSON.parse(body) as { config: unknown }
  try {
    return isDeepStrictEqual(config, JSON.parse(stdin))
  } catch (error) {
    // Nested deeper than can be compared.
    if (error instanceof RangeError) return body.includes(stdin)
    throw error
  }
}
