import { readFileSync } from 'node:fs'
import type { ExplainReply } from '../../../shared/api/explain.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { command, expectPositionals, type CommandArguments } from '../command.ts'
import { findNetconf } from '../find-netconf.ts'
import { readManifest, type ManifestPod } from '../read-manifest.ts'

/** One explanation, with what the manifest alone tells. */
type Explained = ExplainReply & { readonly notes: readonly string[] }

interface Explanations {
  readonly conflist: string
  readonly explanations: readonly Explained[]
}

interface Asked {
  readonly namespace: string
  readonly name: string
  readonly manifest?: Pick<ManifestPod, 'annotations' | 'owner'>
  readonly notes: readonly string[]
}

/** "-" reads standard input. */
function manifestText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Problem('IPK_REQUEST_INVALID', `${path} cannot be read: ${why}`, { hint: 'name another file' })
  }
}

function askedFor(args: CommandArguments): readonly Asked[] {
  const { manifest, namespace = 'default' } = args.options
  if (manifest !== undefined) {
    expectPositionals(args, [])
    return readManifest(
      manifestText(manifest),
      manifest === '-' ? 'standard input' : manifest,
      namespace,
    ).map(({ namespace: its, name, annotations, owner, notes }) => ({
      namespace: its,
      name,
      manifest: { annotations, ...(owner && { owner }) },
      notes,
    }))
  }
  const [word = ''] = expectPositionals(args, ['NAMESPACE/POD'])
  const [first = '', name = '', ...more] = word.split('/')
  if (first === '' || name === '' || more.length > 0)
    throw new Problem('IPK_USAGE', `"${word}" is not NAMESPACE/POD`)
  return [{ namespace: first, name, notes: [] }]
}

const marks = { chosen: '+', dropped: '-', noted: ' ' } as const

function answerLines({ addresses, delegatedTo, error }: ExplainReply): readonly string[] {
  if (error) {
    return [
      `an ADD would fail: ${error.message} [${error.code}, CNI code ${error.cniCode}]`,
      ...(error.details === '' ? [] : [`  ${error.details}`]),
      `hint: ${error.hint}`,
    ]
  }
  if (delegatedTo !== null) return [`an ADD would be left to the fallback ${delegatedTo}`]
  return [`an ADD would give ${addresses.join(', ')}`]
}

function explanation(reply: Explained): string {
  const { pod, network, ifname, annotationsFrom, steps, notes } = reply
  const unknown =
    annotationsFrom === 'nobody'
      ? ['  ! its annotations are not known here (no Kubernetes API): give them with --manifest FILE']
      : []
  return [
    `${pod.namespace}/${pod.name}, network ${network}, interface ${ifname}`,
    ...notes.map(note => `  ! ${note}`),
    ...unknown,
    ...steps.map(({ about, subject, verdict, text }) => `  ${marks[verdict]} ${about} ${subject}: ${text}`),
    ...answerLines(reply),
    '',
  ].join('\n')
}

export const explainCommand = command<Explanations>({
  name: 'explain',
  arguments: '[NAMESPACE/POD]',
  summary: 'show which address an ADD of a pod would get now, and why; changes nothing',
  options: {
    manifest: ['FILE', 'explain the pods of a manifest, which need not exist; "-" reads standard input'],
    namespace: ['NAME', 'of objects in the manifest that name none (default: default)'],
    ifname: ['NAME', 'interface of the pod (default: eth0)'],
    network: ['NAME', 'network to explain (default: the first that uses ipkeeper)'],
    conflist: ['FILE', 'its configuration (default: looked for in --net-dir)'],
    'net-dir': ['DIR', 'where the runtime looks for networks (default: /etc/cni/net.d)'],
  },
  example: 'ipkeeperctl explain shop/web-0',
  run: async (daemon, args) => {
    const asked = askedFor(args)
    const { conflist, network, ifname, 'net-dir': folder = '/etc/cni/net.d' } = args.options
    const { config, file } = findNetconf({ conflist, network, folder })
    const explanations: Explained[] = []
    for (const { notes, ...pod } of asked) {
      const question = { config, ...pod, ...(ifname !== undefined && { ifname }) }
      const reply = (await daemon.ask('POST', '/v1/explain', question)) as ExplainReply
      explanations.push({ ...reply, notes })
    }
    return { conflist: file, explanations }
  },
  print: ({ explanations }) => explanations.map(explanation).join('\n'),
})
