import { parseJson } from '../../../shared/json/parse-json.ts'
import {
  invalidAnnotation,
  type Annotation,
  readAddressPerFamily,
  readMac,
  type Dialect,
} from '../annotations/annotation-reader.ts'

/** A JSON list of texts, not empty. */
function readTexts(annotation: Annotation): readonly string[] {
  const wrong = invalidAnnotation(annotation, 'is no JSON list of addresses such as ["10.22.0.50"]')
  let list: unknown
  try {
    list = parseJson(annotation.value)
  } catch {
    throw wrong
  }
  if (!Array.isArray(list) || list.length === 0 || !list.every(item => typeof item === 'string')) throw wrong
  return list
}

/**
 * Calico (its pages "Use a specific IP address with a pod" and "Use a specific MAC address for a pod"; cni-plugin/pkg/k8s).
 * Its pools (ipv4pools, ipv6pools) are not read: they name blocks of Calico's own, several per family, and no address.
 */
export const calico: Dialect = {
  'cni.projectcalico.org/ipAddrs': annotation => ({
    addresses: readAddressPerFamily(annotation, readTexts(annotation), 'bare'),
  }),
  // There it means an address that no IPAM knows of, and is an error unless the feature is switched on.
  'cni.projectcalico.org/ipAddrsNoIpam': annotation => {
    throw invalidAnnotation(
      annotation,
      'asks for an address behind the back of IPAM; ask with cni.projectcalico.org/ipAddrs or ipkeeper.io/ip',
    )
  },
  'cni.projectcalico.org/hwAddr': annotation => ({ mac: readMac(annotation) }),
}
