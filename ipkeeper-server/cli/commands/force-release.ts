import type {
  ForcedReleasePlan,
  ForcedReleaseReply,
  ReleaseRequest,
} from '../../../shared/api/address.schema.ts'
import type { LeaseItem } from '../../../shared/api/listing.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { ReadCall } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import type { Option } from '../framework/command.ts'
import { OptionProblem } from '../framework/option-problem.ts'
import { whoHas } from '../framework/terminal-text.ts'
import { agrees, notAgreed, type Terminal } from '../framework/terminal.ts'
import { toTheSecond } from './addresses.ts'

export const forceOptions = {
  force: { text: 'also release an address that a sandbox has: the sandbox is cut off first' },
  'powered-off': { text: 'with --force: you have made sure that the machine of its node is off' },
} as const satisfies Readonly<Record<string, Option>>

/** Milliseconds: the node is asked for 15 s, after another question for as long; its daemon has 15 s to cut a sandbox off. */
const deadline = 60_000

/** Of one address, which is read one by one: each is a pod that loses its network. Throws IPK_USAGE. */
export function isForced({ flags, options, positionals }: ReadCall): boolean {
  if (!flags.has('force')) {
    if (flags.has('powered-off')) throw new OptionProblem('--powered-off', '--powered-off goes with --force')
    return false
  }
  const other = Object.keys(options).find(name => name !== 'segment')
  if (other !== undefined)
    throw new OptionProblem(`--${other}`, `--force goes with ADDRESS, not with --${other}`)
  if (positionals.length !== 1)
    throw new OptionProblem(
      '--force',
      `--force goes with one ADDRESS; got ${positionals.join(' ') || 'none'}`,
    )
  return true
}

/** Says what would be done and to whom, asks, and has it done to the very sandbox that was told. */
export async function runForced(
  daemon: DaemonClient,
  path: string,
  { flags }: Pick<ReadCall, 'flags'>,
  terminal: Terminal,
): Promise<ForcedReleaseReply> {
  const ask = async (more: ReleaseRequest): Promise<ForcedReleaseReply> =>
    (await daemon.ask(
      'POST',
      path,
      { force: true, poweredOff: flags.has('powered-off'), ...more },
      deadline,
    )) as ForcedReleaseReply
  const isAgreed = flags.has('yes') || flags.has('dry-run')
  if (!isAgreed && !terminal.ask)
    throw new Problem(
      'IPK_USAGE',
      'release --force asks before it does anything, and there is no terminal: add --yes',
    )
  const shown = await ask({ dryRun: true })
  const { plan } = shown
  terminal.err(planText(plan))
  if (flags.has('dry-run')) return shown
  if (!isAgreed && !agrees(terminal, 'release it?'))
    throw new Problem('IPK_INTERRUPTED', 'nothing was released', { hint: notAgreed })
  return await ask({ of: plan.of })
}

function planText({ says, others, warning }: ForcedReleasePlan): string {
  const also =
    others.length === 0
      ? ''
      : `; the other addresses of the sandbox are released with it: ${others.join(', ')}`
  return `${says}${also}\n${warning === null ? '' : `WARNING: ${warning}\n`}`
}

const how: Readonly<Record<ForcedReleasePlan['way'], (lease: LeaseItem) => string>> = {
  kept: () => 'no sandbox had it',
  ended: () => 'its sandbox was gone',
  'cut-off': () => 'its sandbox was disconnected',
  'by-its-node': ({ node }) => `node ${node} has disconnected its sandbox`,
  'by-word': ({ node }) =>
    `on your statement that its sandbox on node ${node} is gone; if that node returns, it disconnects the sandbox`,
}

export function forcedText({ plan: { way }, reply }: ForcedReleaseReply): string {
  if (!reply) return ''
  const { released, after } = reply
  const until = after?.until
  const rests =
    after === null
      ? 'it is free'
      : `it is cooling down${until ? ` until ${toTheSecond(until)}` : ''}, and a pod that asks for it by name gets it at once`
  return `${released.address} is released from ${whoHas(released)}: ${how[way](released)}; ${rests}\n`
}
