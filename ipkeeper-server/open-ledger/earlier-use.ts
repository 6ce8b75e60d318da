import { Problem } from '../../shared/problem/problem.ts'
import { shellWord } from '../../shared/text/shell-word.ts'

/** A pod that had its addresses from here, as something other than the ledger shows. */
export interface EarlierAttachment {
  readonly containerId: string
  readonly network: string
  readonly ifname: string
  /** Empty where nothing tells. */
  readonly addresses: readonly string[]
  readonly pod: { readonly namespace: string; readonly name: string } | null
  /** What shows it: "result" of a runtime, "link" of the host. */
  readonly by: 'result' | 'link'
  /** Its result is older than the boot, so that it is dead. */
  readonly beforeBoot: boolean
}

/** A file of the state folder that only a ledger in use leaves there. */
export interface LeftFile {
  readonly path: string
  /** Such as "12 attachments then". */
  readonly says: string
  /** A whole ledger, which can take the place of the one that is missing. */
  readonly isLedger: boolean
}

/** What a node shows of a ledger that was in use. */
export interface EarlierUse {
  readonly attachments: readonly EarlierAttachment[]
  readonly files: readonly LeftFile[]
}

/** How a ledger is not there. */
export type Absence = 'missing' | 'empty' | 'unused'

const absences: Readonly<Record<Absence, string>> = {
  missing: 'is missing',
  empty: 'is empty (0 bytes)',
  unused: 'has never been written to',
}

/** Lines that the error lists; where there are more, it says how many. */
const mostListed = 40
const mostNamed = 3

export const showsUse = ({ attachments, files }: EarlierUse): boolean => attachments.length + files.length > 0

/** Names of pods and containers as a line of text may have them. */
const plain = (text: string): string => text.replaceAll(/[^\w.:/-]/g, '?').slice(0, 253)

function describe({
  addresses,
  pod,
  containerId,
  ifname,
  network,
  by,
  beforeBoot,
}: EarlierAttachment): string {
  const seen = by === 'link' ? '; its link is there' : beforeBoot ? '; from before this boot' : ''
  const where = `container ${plain(containerId.slice(0, 13))}, ${plain(ifname)} of ${plain(network)}${seen}`
  return [...addresses, ...(pod ? [plain(`${pod.namespace}/${pod.name}`)] : []), `(${where})`].join(' ')
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** What was seen, in one line each; where there are more, how many. */
export function describeUse({ files, attachments }: EarlierUse, most = mostListed): readonly string[] {
  const lines = [
    ...files.map(({ path, says }) => `${path}${says === '' ? '' : `: ${says}`}`),
    ...attachments.map(describe),
  ]
  const more = lines.length - most
  return [...lines.slice(0, most), ...(more > 0 ? [`and ${more} more`] : [])]
}

/** What speaks against an empty ledger, in a few words. */
export function summarizeUse({ attachments, files }: EarlierUse): string {
  const links = attachments.filter(({ by }) => by === 'link').length
  const results = attachments.length - links
  const others = files.length - mostNamed
  const words = [
    ...files.slice(0, mostNamed).map(({ path }) => nameOf(path)),
    ...(others > 0 ? [`${others} more files`] : []),
    ...(results > 0 ? [results === 1 ? 'a result of an ADD' : `results of ${results} ADDs`] : []),
    ...(links > 0 ? [links === 1 ? 'a link of a pod' : `links of ${links} pods`] : []),
  ]
  return words.length > 0 ? words.join(', ') : 'ipkeeper never makes an empty file'
}

/**
 * Why a ledger is not begun: what an earlier one has is not known, and its addresses would be given again.
 *
 * @param marker by which a person says that it may begin empty
 */
export function missingLedger(path: string, absence: Absence, use: EarlierUse, marker: string): Problem {
  const whole = use.files.findLast(({ isLedger }) => isLedger)?.path
  const inTheWay = use.files.filter(({ path: file }) => file === `${path}-wal`).map(({ path: file }) => file)
  if (absence === 'empty') inTheWay.unshift(path)
  const aside = inTheWay.map(file => `mv ${shellWord(file)} ${shellWord(`${file}.aside`)}; `).join('')
  const first =
    whole === undefined
      ? 'put the files back'
      : `put the ledger that was saved in its place: ${aside}mv ${shellWord(whole)} ${shellWord(path)}`
  return new Problem(
    'IPK_STORE_MISSING',
    `store ${path} ${absences[absence]}, and there was one: ${summarizeUse(use)}`,
    {
      details: describeUse(use).join('\n'),
      hint: `${first}, or restore a backup: ${aside}ipkeeperctl restore FILE; or save what a damaged copy has: ipkeeperctl rescue --store sqlite:COPY; only when all that is listed may lose its address: touch ${shellWord(marker)}; see docs/operations/rescue.md`,
    },
  )
}
