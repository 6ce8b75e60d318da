import type { Severity } from '../../../shared/findings.ts'
import { interfaceNameFault } from '../../../shared/cni/identifiers.ts'
import { parseAddress } from '../../../shared/net/address.ts'
import { parseCidr } from '../../../shared/net/cidr.ts'
import { parseMac } from '../../../shared/net/mac.ts'
import { nearestWord } from '../../../shared/text/nearest-word.ts'
import { quoted } from './json/found-faults.ts'
import { textField, valueOf, type JsonKind, type JsonNode, type Span } from './json/json-node.ts'
import { parseTolerantly } from './json/parse-tolerantly.ts'

/** By which a pod chooses its further networks (Kubernetes Network Custom Resource Definition De-facto Standard, 4.1). */
export const selectionKey = 'k8s.v1.cni.cncf.io/networks'

/** One network that a pod chooses; places are those of the annotation's value. */
export interface Selection extends Span {
  /** '' where it is the pod's own. */
  readonly namespace: string
  readonly name: string
  /** '' where the caller makes up a name. */
  readonly ifname: string
}

export interface SelectionFault extends Span {
  readonly message: string
  readonly remedy: string
  readonly severity?: Severity
}

export interface Selections {
  readonly selections: readonly Selection[]
  readonly faults: readonly SelectionFault[]
}

interface Field {
  readonly kind: JsonKind
  readonly wanted: string
  /** What a text of it, or an item, has to be. */
  readonly isSound?: (text: string) => boolean
}

const isAddress = (text: string): boolean => parseAddress(text) !== undefined
const anything: Field = { kind: 'object', wanted: 'an object' }
const someText: Field = { kind: 'string', wanted: 'a text' }

/** Keys of an element that Multus 4 reads; Go takes them in any case. */
const fields: Readonly<Record<string, Field>> = {
  name: someText,
  namespace: someText,
  ips: {
    ...{ kind: 'array', wanted: 'a list of addresses: ["10.22.0.56/16"]' },
    isSound: text => isAddress(text) || parseCidr(text) !== undefined,
  },
  mac: {
    kind: 'string',
    wanted: 'a MAC address: "02:42:ac:11:00:02"',
    isSound: text => parseMac(text) !== undefined,
  },
  interface: someText,
  interfaceRequest: someText,
  'infiniband-guid': someText,
  portMappings: { kind: 'array', wanted: 'a list' },
  bandwidth: anything,
  deviceID: someText,
  'cni-args': anything,
  'default-route': { kind: 'array', wanted: 'a list of gateways: ["10.22.0.1"]', isSound: isAddress },
  'ipam-claim-reference': someText,
}

const attachmentName = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/

function fieldFaults(element: JsonNode): SelectionFault[] {
  return element.members.flatMap(({ key, keySpan, value }): SelectionFault[] => {
    const known = Object.keys(fields).find(name => name.toLowerCase() === key.toLowerCase())
    const field = known === undefined ? undefined : fields[known]
    if (!field) {
      const meant = nearestWord(key, Object.keys(fields))
      const message = `${quoted(key)} is no key of a network selection, and is ignored`
      const remedy = meant === undefined ? 'remove it' : `write ${quoted(meant)}`
      return [{ ...keySpan, message, remedy, severity: 'warning' }]
    }
    if (value.kind === 'null' || value.kind === 'unknown') return []
    const remedy = `write ${field.wanted}`
    if (value.kind !== field.kind)
      return [{ ...spanOf(value), message: `${quoted(key)} is not ${field.wanted}`, remedy }]
    const { isSound } = field
    if (!isSound) return []
    return (value.kind === 'array' ? value.items : [value])
      .filter(item => typeof item.value !== 'string' || (item.value !== '' && !isSound(item.value)))
      .map(item => ({ ...spanOf(item), message: `${quoted(String(item.value))} in ${quoted(key)}`, remedy }))
  })
}

const spanOf = ({ start, end }: Span): Span => ({ start, end })

function readList(text: string): Selections {
  const { root, faults, sound } = parseTolerantly(text)
  if (!root || !sound) return { selections: [], faults }
  if (root.kind !== 'array') {
    const message = 'network selections in JSON are a list'
    return {
      selections: [],
      faults: [...faults, { ...spanOf(root), message, remedy: 'write [{ "name": ... }]' }],
    }
  }
  const found: SelectionFault[] = [...faults]
  const selections = root.items.flatMap((element): Selection[] => {
    if (element.kind !== 'object') {
      found.push({
        ...spanOf(element),
        message: 'a network selection is an object',
        remedy: 'write { "name": ... }',
      })
      return []
    }
    found.push(...fieldFaults(element))
    const name = textField(element, 'name') ?? ''
    const said = valueOf(element, 'name')?.kind ?? 'string'
    // A value of another kind was complained of already.
    if (name === '' && said === 'string')
      found.push({
        start: element.start,
        end: element.start + 1,
        message: '"name" is missing',
        remedy: 'name the network',
      })
    if (name === '') return []
    const ifname = textField(element, 'interface') ?? textField(element, 'interfaceRequest') ?? ''
    const at = valueOf(element, 'name') ?? element
    return [{ ...spanOf(at), namespace: textField(element, 'namespace') ?? '', name, ifname }]
  })
  return { selections, faults: found }
}

/** "NAMESPACE/NAME@INTERFACE", comma after comma. */
function readShort(text: string): Selections {
  const selections: Selection[] = []
  const faults: SelectionFault[] = []
  for (const { index, 0: part } of text.matchAll(/[^,]+/g)) {
    const item = part.trim()
    const start = index + part.indexOf(item)
    const span = { start, end: start + item.length }
    const [, namespace = '', name = '', ifname = ''] =
      /^(?:([^/@]*)\/)?([^/@]*)(?:@([^/@]*))?$/.exec(item) ?? []
    if (
      attachmentName.test(name.trim()) &&
      (namespace.trim() === '' || attachmentName.test(namespace.trim()))
    )
      selections.push({ ...span, namespace: namespace.trim(), name: name.trim(), ifname: ifname.trim() })
    else
      faults.push({
        ...{ ...span, message: `${quoted(item)} chooses no network` },
        remedy:
          'write NAMESPACE/NAME@INTERFACE, of which NAME is enough, with commas between networks; or JSON',
      })
  }
  if (selections.length + faults.length === 0)
    faults.push({
      start: 0,
      end: 0,
      message: 'the annotation is empty',
      remedy: 'name a network, or remove it',
    })
  return { selections, faults }
}

/** Names of interfaces in the order of the selections: what is not said, Multus numbers, the cluster's network being 0. */
export function interfacesOf(selections: readonly Selection[]): readonly string[] {
  return selections.map(({ ifname }, index) => (ifname === '' ? `net${index + 1}` : ifname))
}

function interfaceFaults(selections: readonly Selection[]): SelectionFault[] {
  const names = interfacesOf(selections)
  return selections.flatMap((selection, index): SelectionFault[] => {
    const name = names[index] ?? ''
    const fault = interfaceNameFault(name)
    const remedy = 'choose another name for the interface'
    if (fault) return [{ ...spanOf(selection), message: `${quoted(name)}: ${fault.message}`, remedy }]
    const message = `the interface ${name} is there already`
    return name === 'eth0' || names.indexOf(name) < index ? [{ ...spanOf(selection), message, remedy }] : []
  })
}

/** Reads the value of the annotation as Multus 4 does (k8sclient.parsePodNetworkAnnotation); reports every fault. */
export function readSelections(text: string): Selections {
  const { selections, faults } = /[[{"]/.test(text) ? readList(text) : readShort(text)
  return { selections, faults: [...faults, ...interfaceFaults(selections)] }
}

/** The definition behind an interface of a pod of that namespace, such as "shop/lan"; undefined where none is chosen for it. */
export function definitionBehind(
  chosen: string | undefined,
  { namespace, ifname }: { readonly namespace: string; readonly ifname: string },
): string | undefined {
  const { selections } = chosen === undefined ? { selections: [] } : readSelections(chosen)
  const selection = selections[interfacesOf(selections).indexOf(ifname)]
  return selection && `${selection.namespace === '' ? namespace : selection.namespace}/${selection.name}`
}
