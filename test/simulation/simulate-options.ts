import { existsSync } from 'node:fs'
import { faults } from './faults.ts'
import { isStoryName, storyFile } from './stories.ts'
import { kinds, type Kind } from './steps.ts'

/** What scripts/simulate.ts is to do, by its variables. */
export interface Wanted {
  readonly kinds: readonly Kind[]
  /** Seed. */
  readonly first: number
  readonly count: number
  /** One history of each kind, with its story. */
  readonly isOne: boolean
  readonly hours: number | undefined
  readonly shrinkSeconds: number
  readonly keep: string | undefined
  readonly what: string | undefined
  readonly story: string | undefined
  /** Name of one that is put back. */
  readonly fault: string | undefined
}

/** A variable that cannot be meant. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

type Environment = Readonly<Record<string, string | undefined>>

/** @throws Refused */
export function readWanted(env: Environment): Wanted {
  const { KIND: kind = '' } = env
  const wanted = kinds.filter(one => kind === '' || one === kind)
  if (wanted.length === 0) throw new Refused(`there is no kind ${kind}; there are ${kinds.join(', ')}`)
  const [seed, count, hours] = [wholeNumber(env, 'SEED'), wholeNumber(env, 'COUNT'), hoursOf(env)]
  if (count !== undefined && hours !== undefined) throw new Refused('either COUNT or HOURS')
  const isOne = seed !== undefined && count === undefined && hours === undefined
  const [keep, story] = [storyName(env, 'KEEP'), storyName(env, 'STORY')]
  if (keep !== undefined && !(isOne && kind !== ''))
    throw new Refused('KEEP wants KIND and SEED, and these alone')
  if (keep !== undefined && existsSync(storyFile(keep))) throw new Refused(`KEEP=${keep} is there already`)
  if (story !== undefined && !existsSync(storyFile(story)))
    throw new Refused(`STORY=${story}: there is no such story`)
  const byTime = Math.floor(Date.now() / 1000) % 1_000_000_000
  return {
    ...{ kinds: wanted, isOne, hours, keep, story },
    first: seed ?? (hours === undefined ? 1 : byTime),
    count: count ?? 100,
    shrinkSeconds: env['SHRINK'] === '0' ? 0 : (wholeNumber(env, 'SHRINK') ?? 60),
    what: env['WHAT'] || undefined,
    fault: faultOf(env),
  }
}

function faultOf({ FAULT: fault = '' }: Environment): string | undefined {
  if (fault === '') return undefined
  if (Object.hasOwn(faults, fault)) return fault
  throw new Refused(`there is no fault ${fault}; there are ${Object.keys(faults).join(', ')}`)
}

function wholeNumber(env: Environment, name: string): number | undefined {
  const text = env[name] || undefined
  if (text !== undefined && !/^[1-9][0-9]{0,8}$/.test(text))
    throw new Refused(`${name}=${text} is no number from 1 to 999999999`)
  return text === undefined ? undefined : Number(text)
}

function hoursOf({ HOURS: text = '' }: Environment): number | undefined {
  if (text === '') return undefined
  if (!/^[0-9]{1,4}(\.[0-9]{1,6})?$/.test(text) || Number(text) === 0)
    throw new Refused(`HOURS=${text} is no number of hours, such as 0.5`)
  return Number(text)
}

function storyName(env: Environment, name: string): string | undefined {
  const text = env[name] || undefined
  if (text !== undefined && !isStoryName(text))
    throw new Refused(`${name}=${text} is no name of a story: small letters, digits and hyphens`)
  return text
}
