import { isPoolName } from '../../ipam/pools/pool.ts'
import {
  invalidAnnotation,
  type AnnotationReader,
  readAddressPerFamily,
  readEntries,
  readMac,
  type Dialect,
} from '../annotations/annotation-reader.ts'

/** What cannot be meant for the name of a pool: it was to be an address. */
const addressLike = /^[0-9.]*$|[:/]/

const familyLike = (text: string): 4 | 6 => (text.includes(':') ? 6 : 4)

/**
 * "a,b,c": one address a pod. "a4,a6;b4,b6": one of each family; "a4,a6" alone is one such pair, as Kube-OVN reads it. A
 * single name is that of an IPPool.
 */
const readIpPool: AnnotationReader = annotation => {
  const { value } = annotation
  if (!/[,;]/.test(value) && !addressLike.test(value)) {
    if (!isPoolName(value)) throw invalidAnnotation(annotation, 'is neither a list of addresses nor a pool')
    return { pools: [{ name: value, source: annotation.source }] }
  }
  const parts = value.split(',')
  const [one = '', other = ''] = parts
  const isPair = parts.length === 2 && familyLike(one) !== familyLike(other)
  const entries = value.includes(';')
    ? value.split(';').map(entry => entry.split(','))
    : isPair
      ? [parts]
      : parts.map(part => [part])
  return { candidates: readEntries(annotation, entries, 'bare') }
}

/**
 * Kube-OVN, of the pod's first interface (its pages "Fixed Addresses" and "Annotation Usage"; pkg/controller/pod.go).
 *
 * It writes what it gave to the keys by which one asks, so that of an existing pod nobody can tell a wish from an outcome.
 * Both are obeyed, `ovn.kubernetes.io/allocated` or not: a pod that asked must not get another address, and one that did
 * not ask keeps the one it had. An ip_address out of the ip_pool is that pod's choice from it.
 */
export const kubeOvn: Dialect = {
  'ovn.kubernetes.io/ip_address': annotation => ({
    addresses: readAddressPerFamily(annotation, annotation.value.split(','), 'bare'),
  }),
  'ovn.kubernetes.io/ip_pool': readIpPool,
  'ovn.kubernetes.io/mac_address': annotation => ({ mac: readMac(annotation) }),
}
