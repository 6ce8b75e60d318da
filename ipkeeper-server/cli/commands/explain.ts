import type { ExplainReply, ExplainStep } from '../../../shared/api/explain.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { command, type ReadCall } from '../framework/command.ts'
import { findNetconf } from '../manifests/find-netconf.ts'
import { readManifest, type ManifestPod } from '../manifests/read-manifest.ts'
import { readTextFile } from '../framework/read-input.ts'

/** One explanation, with what the manifest alone tells. */
type Explained = ExplainReply & { readonly notes: readonly string[] }

interface Explanations {
  /** The file that the network was read from. */
  readonly conflist: string
  readonly explanations: readonly Explained[]
}

interface Asked {
  readonly namespace: string
  readonly name: string
  readonly manifest?: Pick<ManifestPod, 'annotations' | 'owner' | 'podsAtOnce'>
  readonly notes: readonly string[]
}

function askedByManifest(path: string, standard: string): readonly Asked[] {
  const file = path === '-' ? 'standard input' : path
  return readManifest(readTextFile(path), file, standard).map(
    ({ namespace, name, annotations, owner, podsAtOnce, notes }) => ({
      namespace,
      name,
      manifest: { annotations, ...(owner && { owner }), ...(podsAtOnce && { podsAtOnce }) },
      notes,
    }),
  )
}

function askedFor(args: ReadCall): readonly Asked[] {
  const { manifest, namespace } = args.options
  if (manifest !== undefined) {
    if (args.positionals.length > 0)
      throw new Problem('IPK_USAGE', 'either NAMESPACE/POD or --manifest FILE, not both')
    return askedByManifest(manifest, namespace ?? 'default')
  }
  if (namespace !== undefined) throw new Problem('IPK_USAGE', '--namespace goes with --manifest')
  if (args.positionals.length === 0)
    throw new Problem('IPK_USAGE', 'explain takes NAMESPACE/POD or --manifest FILE; got none')
  const [word = ''] = args.positionals
  const [first = '', name = '', ...more] = word.split('/')
  if (first === '' || name === '' || more.length > 0)
    throw new Problem('IPK_USAGE', `"${word}" is not NAMESPACE/POD`)
  return [{ namespace: first, name, notes: [] }]
}

const marks = { chosen: '+', dropped: '-', noted: ' ' } as const

function stepLine({ about, subject, verdict, text }: ExplainStep): string {
  // Messages of errors name their pool themselves.
  const head = `${about} ${subject}: `
  return `  ${marks[verdict]} ${text.startsWith(head) ? '' : head}${text}`
}

function answerLines({ addresses, delegatedTo, error }: ExplainReply): readonly string[] {
  if (error) {
    return [
      `an ADD would fail: ${error.message} [${error.code}, CNI code ${error.cniCode}]`,
      ...(error.details === '' ? [] : [`  ${error.details}`]),
      `  hint: ${error.hint}`,
    ]
  }
  if (delegatedTo !== null) return [`an ADD would be delegated to the fallback ${delegatedTo}`]
  return [`an ADD would give ${addresses.join(', ')}`]
}

function explanation(reply: Explained): string {
  const { pod, network, ifname, steps, notes } = reply
  return [
    `${pod.namespace}/${pod.name}, network ${network}, interface ${ifname}`,
    ...notes.map(note => `  ! ${note}`),
    ...steps.map(stepLine),
    ...answerLines(reply),
    '',
  ].join('\n')
}

export const explainCommand = command<Explanations>({
  name: 'explain',
  arguments: [
    {
      name: 'NAMESPACE/POD',
      text: 'the pod, which need not exist; or use --manifest',
      optional: true,
      offers: 'pod',
    },
  ],
  summary: 'Show which address a pod would get now, and why; changes nothing',
  options: {
    manifest: {
      value: 'FILE',
      text: 'explain the pods of a manifest, which need not be applied; "-" is standard input',
      offers: 'file',
    },
    namespace: {
      value: 'NS',
      text: 'namespace of objects in the manifest that name none (default: default)',
    },
    ifname: { value: 'NAME', text: 'interface of the pod (default: eth0)' },
    network: {
      value: 'NAME',
      text: 'network to explain (default: the first that uses ipkeeper)',
      offers: 'network',
    },
    conflist: { value: 'FILE', text: 'network configuration (default: found in --net-dir)', offers: 'file' },
    'net-dir': {
      value: 'DIR',
      text: "the runtime's folder of network configurations (default: /etc/cni/net.d)",
      offers: 'folder',
    },
  },
  examples: [
    { line: 'ipkeeperctl explain shop/web-0', does: 'Show which address it would get now, step by step' },
    {
      line: 'ipkeeperctl explain --manifest web.yaml --namespace shop',
      does: 'Explain the pods of a manifest before it is applied',
    },
    {
      line: 'kubectl get sts web -o yaml | ipkeeperctl explain --manifest -',
      does: 'Explain the pods of an object in the cluster',
    },
  ],
  exits: { 0: 'every ADD would succeed', 1: 'an ADD would be refused, or explain failed' },
  run: async (daemon, args, terminal) => {
    const asked = askedFor(args)
    const { conflist, network, ifname, 'net-dir': folder = '/etc/cni/net.d' } = args.options
    const { config, file } = findNetconf({ conflist, network, folder }, why => {
      terminal.err(`note: skipped: ${why}\n`)
    })
    const explanations: Explained[] = []
    for (const { notes, ...pod } of asked) {
      const question = { config, ...pod, ...(ifname !== undefined && { ifname }) }
      const reply = (await daemon.ask('POST', '/v1/explain', question)) as ExplainReply
      explanations.push({ ...reply, notes })
    }
    return { conflist: file, explanations }
  },
  print: ({ explanations }) => {
    const each =
      explanations.length > 1 ? 'Each pod is explained as if it were the next one created.\n\n' : ''
    return `${each}${explanations.map(explanation).join('\n')}`
  },
  exitCode: ({ explanations }) => (explanations.some(({ error }) => error !== null) ? 1 : 0),
})
