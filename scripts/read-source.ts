import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a build says of the sources it was made from. */
export interface Source {
  /** Twelve digits, "-dirty" behind them when files have changed since; or "unknown". */
  readonly commit: string
  /** Seconds since the epoch: the time of that commit, which every file of a release bears. */
  readonly time: number
}

/** 1980-01-01, the first moment that every archive format can tell: for sources without a commit. */
const noTime = 315_532_800

const short = (commit: string): string => commit.slice(0, 12)

function readGit(root: string): Source | undefined {
  if (!existsSync(join(root, '.git'))) return undefined
  const git = (...words: readonly string[]): string =>
    execFileSync('git', ['-C', root, ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  try {
    const [commit = '', time = ''] = git('log', '-1', '--format=%H %ct').split(' ')
    const dirty = git('status', '--porcelain') !== ''
    return { commit: `${short(commit)}${dirty ? '-dirty' : ''}`, time: Number(time) }
  } catch {
    return undefined
  }
}

/** `git archive` writes commit and time into this file; in a checkout it holds the placeholder. */
function readArchive(root: string): Source | undefined {
  const path = join(root, '.source-commit')
  if (!existsSync(path)) return undefined
  const [, commit = '', time = ''] = /^([0-9a-f]{40,64}) (\d+)$/.exec(readFileSync(path, 'utf8').trim()) ?? []
  return commit === '' ? undefined : { commit: short(commit), time: Number(time) }
}

/**
 * Commit and time of the sources: of git in a checkout, of the archive that `git archive` made. IPKEEPER_COMMIT and
 * SOURCE_DATE_EPOCH (seconds) have the last word.
 *
 * @throws where one of them is not what it should be
 */
export function readSource(root: string, env: Readonly<Record<string, string | undefined>>): Source {
  const found = readGit(root) ?? readArchive(root) ?? { commit: 'unknown', time: noTime }
  const { IPKEEPER_COMMIT: commit, SOURCE_DATE_EPOCH: time } = env
  if (commit && !/^[0-9a-f]{7,64}(-dirty)?$/.test(commit))
    throw new Error(`IPKEEPER_COMMIT=${commit} is no commit, such as 2c26b46b68ff or 2c26b46b68ff-dirty`)
  if (time && !/^\d{1,11}$/.test(time)) throw new Error(`SOURCE_DATE_EPOCH=${time} is no number of seconds`)
  return { commit: commit || found.commit, time: time ? Number(time) : found.time }
}
