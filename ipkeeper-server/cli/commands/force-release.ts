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
import { whoHas } from '../framework/terminal-text.ts'
import type { Terminal } from '../framework/terminal.ts'

export const forceOptions = {
  force: { text: 'also release an address that a sandbox has: the sandbox is cut off first' },
  'powered-off': { text: 'with --force: you have made sure that the machine of its node is off' },
  yes: { text: 'with --force: do not ask' },
} as const satisfies Readonly<Record<string, Option>>

/** Milliseconds: the node is asked for 5 s, after another question; its daemon has 15 s to cut a sandbox off. */
const deadline = 60_000

/** Flags that mean nothing without --force. Throws IPK_USAGE. */
export function isForced({ flags }: Pick<ReadCall, 'flags'>): boolean {
  if (flags.has('force')) return true
  const lone = ['powered-off', 'yes'].find(flag => flags.has(flag))
  if (lone !== undefined) throw new Problem('IPK_USAGE', `--${lone} goes with --force`)
  return false
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
  if (!flags.has('yes') && !terminal.question)
    throw new Problem(
      'IPK_USAGE',
      'release --force asks before it does anything, and there is no terminal: add --yes',
    )
  const { plan } = await ask({ dryRun: true })
  terminal.err(planText(plan))
  if (!flags.has('yes') && !/^y(es)?$/i.test(terminal.question?.('release it? [y/N] ').trim() ?? ''))
    throw new Problem('IPK_INTERRUPTED', 'nothing was released')
  return await ask({ of: plan.of })
}

function planText({ says, others, warning }: ForcedReleasePlan): string {
  const also =
    others.length === 0 ? '' : `; it ends with the other addresses of the sandbox: ${others.join(', ')}`
  return `${says}${also}\n${warning === null ? '' : `WARNING: ${warning}\n`}`
}

const how: Readonly<Record<ForcedReleasePlan['way'], (lease: LeaseItem) => string>> = {
  kept: () => 'no sandbox had it',
  ended: () => 'its sandbox was gone',
  'cut-off': () => 'its sandbox was cut off',
  'by-its-node': ({ node }) => `node ${node} has cut its sandbox off`,
  'by-word': ({ node }) =>
    `by your word that its sandbox on node ${node} is gone; when that node is back, it cuts the sandbox off`,
}

export function forcedText({ plan: { way }, reply }: ForcedReleaseReply): string {
  if (!reply) return ''
  const { released, after } = reply
  const time = after?.until?.replace(/\.[0-9]{3}Z$/, 'Z')
  const rests =
    after === null
      ? 'it is free'
      : `it is cooling down${time === undefined ? '' : ` until ${time}`}, and a pod that asks for it by name gets it at once`
  return `${released.address} is released from ${whoHas(released)}: ${how[way](released)}; ${rests}\n`
}
