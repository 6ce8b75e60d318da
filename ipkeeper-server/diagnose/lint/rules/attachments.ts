import { field, isJsonObject } from '../../../../shared/json/fold.ts'
import { nearestWord } from '../../../../shared/text/nearest-word.ts'
import { attachmentName } from '../attachment-objects.ts'
import { valueOf } from '../json/json-node.ts'
import type { LintRule } from '../lint-rule.ts'
import { interfacesOf, readSelections, selectionKey, type Selections } from '../network-selection.ts'
import {
  spotOf,
  type LintedNetwork,
  type SeenDefinition,
  type SeenPods,
  type Site,
  type Spot,
} from '../site.ts'
import { usesIpkeeper } from '../uses-ipkeeper.ts'

export const attachmentWithoutConfig: LintRule = {
  id: 'attachment-without-config',
  severity: 'error',
  summary:
    'A NetworkAttachmentDefinition without `spec.config` for which this node has no file: Multus takes the file whose "name" is that of the definition. A note where nothing is known of the node.',
  *check({ attachments, input: { multusFiles } }) {
    for (const { config, name, at, file } of attachments) {
      if (config || multusFiles?.networks.has(name) === true) continue
      const where = multusFiles ? `no file of ${multusFiles.folders.join(' or ')}` : 'a file of each node'
      yield {
        at: { file, ...at },
        message: multusFiles
          ? `no "spec.config", and ${where} has the network ${JSON.stringify(name)}`
          : `no "spec.config": ${where} has to have the network ${JSON.stringify(name)}`,
        remedy: `write "config" into the definition, or the file on each node, with "name": ${JSON.stringify(name)}`,
        ...(!multusFiles && { severity: 'note' }),
      }
    }
  },
}

/** What ipkeeper gives addresses from, of the first plugin that asks it. */
function addressesOf({ plugins }: LintedNetwork): string | undefined {
  const ours = plugins.find(({ config }) => usesIpkeeper(config))
  const ipam = ours && field(ours.config, 'ipam')
  if (!isJsonObject(ipam)) return undefined
  const keys = ['subnet', 'rangeStart', 'rangeEnd', 'gateway', 'ranges', 'pool', 'segment']
  return JSON.stringify(keys.map(key => field(ipam, key)))
}

export const attachmentNetworkName: LintRule = {
  id: 'attachment-network-name',
  severity: 'error',
  summary:
    'Two NetworkAttachmentDefinitions whose configurations are one network by name, but differ in their addresses: each ADD of one would change the pool of the other. Without a "name" a network is called as its definition, whatever the namespace.',
  *check({ attachments }) {
    const first = new Map<string, { readonly attachment: SeenDefinition; readonly addresses: string }>()
    for (const attachment of attachments) {
      const { network, file, at } = attachment
      const addresses = network && addressesOf(network)
      if (!network || network.name === undefined || addresses === undefined) continue
      const other = first.get(network.name)
      if (!other) first.set(network.name, { attachment, addresses })
      else if (other.addresses !== addresses) {
        const node = valueOf(network.root, 'name')
        const called = JSON.stringify(network.name)
        yield {
          at: node ? spotOf(network.document, node) : { file, ...at },
          message: `the network ${called} is also that of ${attachmentName(other.attachment)}, with other addresses`,
          remedy: 'write another "name" into one configuration, or the same addresses into both',
        }
      }
    }
  },
}

interface Choice {
  readonly pods: SeenPods
  readonly spot: (span: { readonly start: number; readonly end: number }) => Spot
  readonly read: Selections
}

/** What pods choose by the annotation. */
function choices({ pods: all }: Site): Choice[] {
  return all.flatMap(pods =>
    pods.annotations
      .filter(({ key }) => key === selectionKey)
      .map(({ view }) => ({
        ...{ pods, read: readSelections(view.text) },
        spot: span => spotOf({ file: pods.file, view }, span),
      })),
  )
}

export const attachmentSelection: LintRule = {
  id: 'attachment-selection',
  severity: 'error',
  summary: `An annotation \`${selectionKey}\` that Multus refuses: no list, an address or MAC that is none, an interface that is there twice. A warning for keys that it ignores.`,
  *check(site) {
    for (const { read, spot } of choices(site)) {
      for (const { start, end, message, remedy, severity } of read.faults)
        yield { at: spot({ start, end }), message, remedy, ...(severity && { severity }) }
    }
  },
}

/** A namespace that is not said may be any. */
const mayBe = (one: string, other: string): boolean => one === '' || other === '' || one === other

export const attachmentUnknown: LintRule = {
  id: 'attachment-unknown',
  severity: 'error',
  summary: `An annotation \`${selectionKey}\` that names no NetworkAttachmentDefinition of those that were given; not checked where none was, and neither the API was asked.`,
  *check(site) {
    const { attachments, input } = site
    if (attachments.length === 0 && input.allAttachments !== true) return
    for (const { read, spot, pods } of choices(site)) {
      for (const selection of read.selections) {
        const { name } = selection
        const namespace = selection.namespace || pods.namespace
        if (attachments.some(other => other.name === name && mayBe(other.namespace, namespace))) continue
        const elsewhere = attachments.find(other => other.name === name)
        const near = nearestWord(
          name,
          attachments.filter(other => mayBe(other.namespace, namespace)).map(other => other.name),
        )
        const meant = elsewhere ? attachmentName(elsewhere) : near
        yield {
          at: spot(selection),
          message: `${pods.what} chooses ${attachmentName({ namespace, name })}, which is no NetworkAttachmentDefinition`,
          remedy:
            meant === undefined
              ? 'make one, or give its file, too'
              : `write ${JSON.stringify(meant)}, or make one`,
        }
      }
    }
  },
}

export const attachmentOfOtherNamespace: LintRule = {
  id: 'attachment-of-other-namespace',
  severity: 'note',
  summary:
    'A pod that chooses a NetworkAttachmentDefinition of another namespace: refused where Multus has `namespaceIsolation`, unless `globalNamespaces` names that namespace.',
  *check(site) {
    for (const { read, spot, pods } of choices(site)) {
      for (const selection of read.selections) {
        const { namespace } = selection
        // "default" is global unless the configuration of Multus says otherwise.
        if (mayBe(namespace, pods.namespace) || namespace === 'default') continue
        yield {
          at: spot(selection),
          message: `${pods.what} is in namespace ${pods.namespace}, and its network in ${namespace}`,
          remedy: `where Multus has "namespaceIsolation", name ${namespace} in its "globalNamespaces", or make the definition in ${pods.namespace}`,
        }
      }
    }
  },
}

/** The interface that an annotation of ours names: "net1" of "ipkeeper.io/ip.net1". */
const interfaceOf = (key: string): string | undefined => /^ipkeeper\.io\/[^.]+\.(.+)$/.exec(key)?.[1]

export const attachmentInterface: LintRule = {
  id: 'attachment-interface',
  severity: 'warning',
  summary: `An annotation such as \`ipkeeper.io/ip.net1\` for an interface that \`${selectionKey}\` does not make, which nobody reads. Multus counts from net1; "defaultNetworks" of its own configuration come first.`,
  *check(site) {
    const chosen = new Map(choices(site).map(({ pods, read }) => [pods, read]))
    for (const pods of site.pods) {
      const read = chosen.get(pods)
      // What a broken annotation means is not known.
      if (read && read.selections.length === 0) continue
      const made = ['eth0', ...interfacesOf(read?.selections ?? [])]
      for (const { key, keyAt } of pods.annotations) {
        const name = interfaceOf(key)
        if (name === undefined || made.includes(name)) continue
        yield {
          at: { file: pods.file, ...keyAt },
          message: `${pods.what} has no interface ${name}: ${read ? `its networks make ${made.slice(1).join(', ')}` : `it has no annotation ${selectionKey}`}`,
          remedy: read
            ? `write one of these after the dot, or "interface": ${JSON.stringify(name)} into a selection`
            : 'choose the network, or remove the annotation',
        }
      }
    }
  },
}
