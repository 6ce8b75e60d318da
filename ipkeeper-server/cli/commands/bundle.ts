import { hostname } from 'node:os'
import { basename, resolve } from 'node:path'
import type { StatusReply } from '../../../shared/api/listing.schema.ts'
import { defaultPaths } from '../../../shared/paths.ts'
import { Problem, toProblem } from '../../../shared/problem/problem.ts'
import { counted } from '../../../shared/text/counted.ts'
import { visible } from '../../../shared/text/visible.ts'
import { choosePlaces } from '../../diagnose/doctor/probe-node.ts'
import { collectParts, shareableReports, within, type PartReport } from '../bundle/collect.ts'
import { manifestOf, missingText, type Manifest } from '../bundle/manifest.ts'
import { bundleParts } from '../bundle/parts.ts'
import { nodeWord } from '../bundle/safe-name.ts'
import type { BundleSite } from '../bundle/site.ts'
import { checkTarget, writeBundle } from '../bundle/write-bundle.ts'
import { command, type ReadCall } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import { placeHere } from '../framework/here.ts'
import { folderOptions } from '../framework/options.ts'
import { showProgress } from '../framework/progress.ts'
import type { Terminal } from '../framework/terminal.ts'

interface BundleReport extends Manifest {
  readonly file: string
  readonly bytes: number
}

/** Milliseconds that the daemon has to say where things are; without it the usual places are looked at. */
const patience = 5_000

const suffix = '.tar.gz'

/** "20261129T091419Z" */
const stampOf = (at: number): string => new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '')

/** "48 KiB" */
const sizeText = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`

interface Found {
  readonly site: BundleSite
  readonly isSilent: boolean
}

/** Where the parts are: what a person names comes before what the daemon says, and that before the usual places. */
async function findSite(daemon: DaemonClient, { options }: ReadCall, terminal: Terminal): Promise<Found> {
  const { 'conf-dir': confDir, 'bin-dir': binDir, 'state-dir': named, config } = options
  const stateDir = named ?? (terminal.env['IPKEEPER_STATE_DIR'] || defaultPaths.stateDir)
  let isSilent = false
  const status = await daemon.ask('GET', '/v1/status', undefined, patience).then(
    reply => reply as StatusReply,
    (error: unknown) => {
      isSilent = toProblem(error).code === 'IPK_DAEMON_TIMEOUT'
      return undefined
    },
  )
  const { socket } = daemon
  const told = status?.config.path === defaultPaths.config ? undefined : status?.config.path
  const place = {
    ...placeHere({ socket, stateDir }, terminal),
    clustered: status && status.kubernetes !== null,
  }
  const places = await choosePlaces({ confDir, binDir }, Promise.resolve(status))
  return {
    site: {
      ...{ socket, stateDir, binDir, status, place, env: terminal.env, ...places },
      config: config ?? told,
    },
    isSilent,
  }
}

/** A line for each part on stderr, and below them how long the one that is being collected takes. */
function showParts(terminal: Terminal) {
  let progress = showProgress({}, '')
  return {
    onBegin: ({ name }: { readonly name: string }) => {
      progress = showProgress(terminal, name)
    },
    onEnd: ({ part, collected: { files }, missing }: PartReport) => {
      progress.end()
      const bytes = files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
      const said =
        missing === null ? `${counted(files.length, 'file')}, ${sizeText(bytes)}` : `missing: ${missing}`
      terminal.err(`${part.name.padEnd(16)}  ${visible(said)}\n`)
    },
    end: () => {
      progress.end()
    },
  }
}

export const bundleCommand = command<BundleReport>({
  name: 'bundle',
  arguments: [
    {
      name: 'FILE',
      optional: true,
      text: 'file to write; an existing one is not overwritten (default: ipkeeper-bundle-NODE-TIME.tar.gz)',
      offers: 'file',
    },
  ],
  summary: 'Collect what support needs in a compressed tar file; needs no daemon',
  about: [
    'The file has versions, the configuration, network configurations, the results of lint, doctor, audit, status, flights, pools and nodes, metrics, and the last lines of the log; MANIFEST.txt and MANIFEST.json list what is in it, how it was made, and what is missing and why. A part that fails or takes too long does not stop the others.',
    'Passwords, tokens and private keys are removed, and files that hold them are not read. Names and addresses of pods and nodes are not removed: look through the file before you publish it. It is readable for its owner alone, and nothing is sent anywhere.',
  ],
  options: {
    config: {
      value: 'FILE',
      text: `the daemon's configuration file (default: the daemon's, else ${defaultPaths.config})`,
      offers: 'file',
    },
    ...folderOptions,
  },
  examples: [
    { line: 'ipkeeperctl bundle', does: 'Write a bundle into the current folder' },
    { line: 'ipkeeperctl bundle /root/case-4711.tar.gz', does: 'Write it to this file' },
  ],
  exits: { 0: 'the bundle was written, even if parts are missing', 1: 'no bundle was written' },
  run: async (daemon, args, terminal) => {
    const signal = terminal.interruption?.()
    const [file] = args.positionals
    for (const [name, value] of [['FILE', file], ...Object.entries(args.options)] as const)
      if (value === '') throw new Problem('IPK_USAGE', `${name} is empty`)
    if (file !== undefined) checkTarget(resolve(file))
    const { site, isSilent } = await within(findSite(daemon, args, terminal), { signal })
    const node = site.status?.node ?? (terminal.env['IPKEEPER_NODE'] || hostname())
    const at = Date.now()
    const target = file ?? `ipkeeper-bundle-${nodeWord(node)}-${stampOf(at)}${suffix}`
    const path = resolve(target)
    checkTarget(path)
    const shown = showParts(terminal)
    const collected = await collectParts(site, { parts: bundleParts, signal, isSilent, ...shown }).finally(
      shown.end,
    )
    const reports = shareableReports(collected)
    const manifest = manifestOf(node, at, reports, site.place)
    const folder = nodeWord(basename(path, suffix))
    return {
      file: target,
      bytes: await writeBundle(path, folder, { manifest, reports }, signal),
      ...manifest,
    }
  },
  print: ({ file, bytes, parts }) => {
    const files = parts.filter(part => part.file !== null).length
    const missing = missingText(parts)
    return `${visible(file)}: ${counted(files, 'file')}, ${sizeText(bytes)}${missing === '' ? '' : `; missing: ${visible(missing)}`}\n`
  },
})
