/** Histories that were once wrong, as files: they stay what they are whatever is drawn later. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { invariants, type Invariant } from './judge.ts'
import { moods } from './machine.ts'
import { poolForms } from './pools.ts'
import { kinds, wishes, type History, type Moment, type Step } from './steps.ts'

export interface Kept {
  /** What was wrong, in a line. */
  readonly what: string
  /** What it broke. */
  readonly broke: Invariant
  readonly history: History
}

export const storiesFolder = join(import.meta.dirname, 'stories')

/** Whether a story can be called so: it is the name of a file, too. */
export const isStoryName = (name: string): boolean => /^[a-z0-9][a-z0-9-]{0,79}$/.test(name)

export const storyFile = (name: string, folder = storiesFolder): string => join(folder, `${name}.json`)

/** Each step on a line of its own. */
export function storyText({
  what,
  broke,
  history: { moments, kind, seed, end, configured, copies },
}: Kept): string {
  // Pods by their names: their order may change.
  const named = (step: Step): Step => Object.assign({}, step, 'pod' in step && { pod: wishes[step.pod]?.pod })
  const steps = moments.map(({ at, step }) => `    ${lineOf({ at, ...named(step) })}`)
  return [
    '{',
    ...Object.entries({
      what,
      broke,
      kind,
      seed,
      end,
      ...(configured && { configured }),
      ...(copies && { copies }),
    }).map(([name, value]) => `  "${name}": ${JSON.stringify(value)},`),
    ...(steps.length === 0 ? ['  "steps": []'] : ['  "steps": [', steps.join(',\n'), '  ]']),
    '}',
    '',
  ].join('\n')
}

/** As prettier has it. */
const lineOf = (step: Readonly<Record<string, unknown>>): string =>
  `{ ${Object.entries(step)
    .flatMap(([name, value]) =>
      value === undefined ? [] : [`${JSON.stringify(name)}: ${JSON.stringify(value)}`],
    )
    .join(', ')} }`

type Line = Readonly<Record<string, unknown>> & {
  readonly at: number
  readonly do: Step['do']
  readonly pod?: string
  readonly is?: string
  readonly as?: string
}

/** All that a step can be. */
const verbs: Readonly<Record<Step['do'], true>> = {
  ...{ start: true, stop: true, 'DEL again': true, CHECK: true, GC: true },
  ...{ engine: true, runtime: true, restart: true, power: true, clock: true },
  ...{ forget: true, reserve: true, unreserve: true, release: true, 'release --force': true, move: true },
  ...{ configure: true, review: true, STATUS: true, copy: true, 'put back': true, clone: true },
  ...{ compact: true, snapshot: true, restore: true },
}

/** @throws where it tells of what there is no more, and so would play something else */
export function parseStory(text: string): Kept {
  const { what, broke, steps, ...numbers } = JSON.parse(text) as Omit<Kept, 'history'> &
    Omit<History, 'moments'> & { readonly steps: readonly Line[] }
  if (!kinds.includes(numbers.kind)) throw new Error(`there is no kind ${numbers.kind}`)
  if (!(broke in invariants)) throw new Error(`there is no invariant "${broke}"`)
  const moments = steps.map(({ at, ...step }): Moment => {
    const number = wishes.findIndex(wish => wish.pod === step.pod)
    if (step.pod !== undefined && number === -1) throw new Error(`there is no pod ${step.pod}`)
    if (!(step.do in verbs)) throw new Error(`nothing is called "${step.do}"`)
    if (step.do === 'configure' && !(String(step.as) in poolForms))
      throw new Error(`no configuration is ${step.as}`)
    if (step.do === 'engine' && !(String(step.is) in moods)) throw new Error(`an engine is never ${step.is}`)
    return { at, step: Object.assign({}, step, 'pod' in step && { pod: number }) as unknown as Step }
  })
  return { what, broke, history: { ...numbers, moments } }
}

export function readStory(name: string, folder = storiesFolder): Kept {
  return parseStory(readFileSync(storyFile(name, folder), 'utf8'))
}
